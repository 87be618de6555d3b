"""Web: a queue bound to a route of your own application; the same object enqueues, and handles what is delivered.

    queue = Route("emails", "https://app.example.com/queues/emails")

    @queue.handles("welcome")
    def welcome(payload, job): ...

    queue.enqueue("welcome", {"to": "ada@example.com"}, run_at=tomorrow_at_eight)

    app.add_route("/queues/emails", minutehand.asgi.receiver(queue), methods=["POST"])

The shape is Taskless's `createQueue(name, route, handler)`. A worker posts the job there, signed; what it carries may
be encrypted from end to end. The receiver is `minutehand.asgi` or `minutehand.wsgi`.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import timedelta
from typing import Any, TypeVar
from urllib.parse import urljoin

from minutehand.database import Connection, Database, database_of
from minutehand.enqueue import enqueue, enqueue_many
from minutehand.errors import ConfigurationError, UnknownKindError
from minutehand.handlers import Handler
from minutehand.model.enqueued import Enqueued, Rejected
from minutehand.model.key import Key, key_text
from minutehand.model.new_job import NewJob, OnConflict
from minutehand.operations.change import Change
from minutehand.operations.jobs import cancel
from minutehand.queries.jobs import get_by_key

HEADER = "minutehand-route"  # of a job: where it is delivered
BASE = "MINUTEHAND_BASE_URL"
TOLERANCE = timedelta(minutes=5)

Function = TypeVar("Function", bound=Callable[..., Any])
Address = str | Callable[[NewJob], str]


class Route:
    """A queue whose jobs are handled at a URL.

    `url` is that URL, or a path under MINUTEHAND_BASE_URL, or a function of the job that returns either. `defaults` are
    options of `minutehand.enqueue` for all its jobs. Without handlers it only enqueues.
    """

    def __init__(
        self, queue: str, url: Address, *, tolerance: timedelta = TOLERANCE, **defaults: Any
    ) -> None:
        """Open nothing; a signature may be as old as `tolerance`."""
        self.queue, self.url, self.tolerance = queue, url, tolerance
        self._defaults = defaults
        self._handlers: dict[str, Handler] = {}

    def handles(self, kind: str) -> Callable[[Function], Function]:
        """Register the function of a kind, `f(payload)` or `f(payload, job)`, sync or async; a decorator."""

        def register(function: Function) -> Function:
            self._handlers[kind] = Handler.of(function)
            return function

        return register

    def find(self, kind: str) -> Handler:
        """Return the kind's handler; raise UnknownKindError if there is none."""
        try:
            return self._handlers[kind]
        except KeyError:
            raise UnknownKindError(f"the route of {self.queue} has no handler for {kind}") from None

    def job(self, kind: str, payload: object = None, **options: Any) -> NewJob:
        """Return a job of this queue, bound to this route, to enqueue with others."""
        said = self._defaults | {name: value for name, value in options.items() if value is not None}
        bare = NewJob(kind, payload, **said | {"queue": self.queue})
        headers: Mapping[str, str] = bare.headers or {}
        return NewJob(**vars(bare) | {"headers": {**headers, HEADER: self._address(bare)}})

    def enqueue(
        self,
        kind: str,
        payload: object = None,
        *,
        connection: Connection | Database | None = None,
        **options: Any,
    ) -> Enqueued:
        """Enqueue one job that is delivered here, with the options of `minutehand.enqueue`."""
        job = vars(self.job(kind, payload, **options))
        said = {name: value for name, value in job.items() if value is not None or name == "payload"}
        return enqueue(**said, connection=connection)

    def enqueue_many(
        self, jobs: Iterable[NewJob], *, on_conflict: OnConflict = "replace",
        connection: Connection | Database | None = None,
    ) -> Iterator[Enqueued | Rejected]:  # fmt: skip
        """Enqueue any number of jobs, whatever queue they name, and yield in order what became of each."""
        bound = (
            self.job(**{name: value for name, value in vars(job).items() if name != "queue"}) for job in jobs
        )
        return enqueue_many(bound, on_conflict=on_conflict, connection=connection)

    def cancel(self, key: Key, *, connection: Connection | Database | None = None) -> Change:
        """Cancel the job that a key names; it stays in the history."""
        database = database_of(connection)
        row = get_by_key(database, self.queue, str(key_text(key)))
        return cancel(database, [row.id])[0]

    def _address(self, job: NewJob) -> str:
        url = self.url if isinstance(self.url, str) else self.url(job)
        if not url.startswith("/"):
            return url
        if not (base := os.environ.get(BASE, "")):
            raise ConfigurationError(
                f"{BASE} is not set: say where {url} is, such as https://app.example.com"
            )
        return urljoin(base, url)
