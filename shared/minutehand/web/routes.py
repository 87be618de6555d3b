"""Bind a queue to a route of your own application: the same object enqueues jobs and handles them.

    queue = Route("emails", "https://app.example.com/queues/emails")

    @queue.handles("welcome")
    def welcome(payload, job): ...

    queue.enqueue("welcome", {"to": "ada@example.com"}, run_at=tomorrow_at_eight)

    app.add_route("/queues/emails", asgi.receiver(queue), methods=["POST"])

This is the shape of Taskless's `createQueue(name, route, handler)`. A worker posts the signed job to the route; its
payload may be encrypted end to end. The receiver is `minutehand.web.asgi` or `minutehand.web.wsgi`.
"""

from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator, Mapping
from datetime import timedelta
from typing import Any, TypeVar, overload
from urllib.parse import urljoin

from minutehand.claimed_job import Job
from minutehand.database import AsyncConnectable, Connectable, Executor, executed
from minutehand.enqueue import enqueue, enqueue_many
from minutehand.errors import ConfigurationError, UnknownKindError
from minutehand.handlers import Handler
from minutehand.model.enqueued import Enqueued, Rejected
from minutehand.model.key import Key, key_text
from minutehand.model.new_job import NewJob, OnConflict
from minutehand.operations.change import Change
from minutehand.operations.jobs import cancel
from minutehand.queries.jobs import get_by_key
from minutehand.settings.table import BASE_URL
from minutehand.web.delivered_job import DeliveredJob
from minutehand.web.signatures import ROUTE_HEADER

TOLERANCE = timedelta(minutes=5)

Function = TypeVar("Function", bound=Callable[..., Any])
Address = str | Callable[[NewJob], str]


class Route:
    """A queue whose jobs are handled at a URL.

    `url` is the URL, a path below MINUTEHAND_BASE_URL, or a function of the job that returns either. `defaults` are
    options of `minutehand.enqueue` for all its jobs. A route without handlers only enqueues.
    """

    def __init__(
        self, queue: str, url: Address, *, tolerance: timedelta = TOLERANCE, **defaults: Any
    ) -> None:
        """Create the route without connecting; a signature may be as old as `tolerance`."""
        self.queue, self.url, self.tolerance = queue, url, tolerance
        self._defaults = defaults
        self._handlers: dict[str, Handler] = {}

    def handles(self, kind: str) -> Callable[[Function], Function]:
        """Register the function of a kind, `f(payload)` or `f(payload, job)`, sync or async; a decorator.

        The decorator raises InvalidHandlerError if the function cannot be called so.
        """

        def register(function: Function) -> Function:
            self._handlers[kind] = Handler.of(function, job_types=(DeliveredJob, Job))
            return function

        return register

    def find(self, kind: str) -> Handler:
        """Return the kind's handler; raise UnknownKindError if there is none."""
        try:
            return self._handlers[kind]
        except KeyError:
            raise UnknownKindError(f"the route of {self.queue} has no handler for {kind}") from None

    def job(self, kind: str, payload: object = None, **options: Any) -> NewJob:
        """Return a job of this queue that is bound to this route, for `enqueue_many`."""
        given = self._defaults | {name: value for name, value in options.items() if value is not None}
        bare = NewJob(kind, payload, **given | {"queue": self.queue})
        headers: Mapping[str, str] = bare.headers or {}
        return NewJob(**vars(bare) | {"headers": {**headers, ROUTE_HEADER: self._address(bare)}})

    @overload
    def enqueue(
        self, kind: str, payload: object = None, *, connection: Connectable | None = None, **options: Any
    ) -> Enqueued: ...
    @overload
    def enqueue(
        self, kind: str, payload: object = None, *, connection: AsyncConnectable, **options: Any
    ) -> Coroutine[Any, Any, Enqueued]: ...
    def enqueue(self, kind: str, payload: object = None, *, connection: Any = None, **options: Any) -> Any:
        """Enqueue one job for this route, with the options of `minutehand.enqueue`."""
        job = vars(self.job(kind, payload, **options))
        options = {name: value for name, value in job.items() if value is not None or name == "payload"}
        return enqueue(**options, connection=connection)

    @overload
    def enqueue_many(
        self,
        jobs: Iterable[NewJob],
        *,
        on_conflict: OnConflict = "replace",
        connection: Connectable | None = None,
    ) -> Iterator[Enqueued | Rejected]: ...
    @overload
    def enqueue_many(
        self, jobs: Iterable[NewJob], *, on_conflict: OnConflict = "replace", connection: AsyncConnectable
    ) -> AsyncIterator[Enqueued | Rejected]: ...
    def enqueue_many(
        self, jobs: Iterable[NewJob], *, on_conflict: OnConflict = "replace", connection: Any = None
    ) -> Any:
        """Enqueue any number of jobs in this queue and yield the result of each, in order."""
        bound = (
            self.job(**{name: value for name, value in vars(job).items() if name != "queue"}) for job in jobs
        )
        return enqueue_many(bound, on_conflict=on_conflict, connection=connection)

    @overload
    def cancel(self, key: Key, *, connection: Connectable | None = None) -> Change: ...
    @overload
    def cancel(self, key: Key, *, connection: AsyncConnectable) -> Coroutine[Any, Any, Change]: ...
    def cancel(self, key: Key, *, connection: Any = None) -> Any:
        """Cancel the job with this key; it stays in the history."""
        return executed(connection, lambda executor: self._cancel(executor, key))

    async def _cancel(self, executor: Executor, key: Key) -> Change:
        row = await get_by_key(executor, self.queue, str(key_text(key)))
        return (await cancel(executor, [row.id]))[0]

    def _address(self, job: NewJob) -> str:
        url = self.url if isinstance(self.url, str) else self.url(job)
        if not url.startswith("/"):
            return url
        if not (base := BASE_URL.read()):
            raise ConfigurationError(
                f"{BASE_URL.name} is not set: set it to the base of {url}, such as https://app.example.com"
            )
        return urljoin(base, url)
