"""The queue as a test drives it: real rows on a real server, and time that is moved by hand."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from datetime import datetime, timedelta
from time import monotonic
from typing import Any, LiteralString
from uuid import UUID

from psycopg.rows import dict_row

from minutehand import Database, Job, enqueue
from minutehand.claim import claim, take
from minutehand.handlers import HandlerTable
from minutehand.model.offer import Offer
from minutehand.model.outcome import Finish
from minutehand.model.row import Row
from minutehand.offer import Offered, offer
from minutehand.queries.jobs import get
from minutehand.work import run_jobs

LEASE = timedelta(minutes=1)
GRACE = timedelta(seconds=2)
LONG = timedelta(minutes=10)
DEADLINE = timedelta(seconds=20)


class Queue:
    """A queue, and the workers and dispatchers that a test sets on it."""

    def __init__(self, url: str, admin_url: str) -> None:
        self._url = url
        self._sessions = ExitStack()
        self._threads = ThreadPoolExecutor(32)
        self._admin = self._open(admin_url)
        self.database = self._open(url)

    def close(self) -> None:
        self._threads.shutdown()
        self._sessions.close()

    def another(self) -> Database:
        """Another session at the same database."""
        return self._open(self._url)

    def _open(self, url: str) -> Database:
        database = Database(url)
        assert database.connection  # before any thread asks for it
        self._sessions.callback(database.close)
        return database

    def sql(self, text: LiteralString, /, **parameters: object) -> list[dict[str, Any]]:
        """Send a statement straight to the server, whoever pools the others."""
        with self._admin.connection.cursor(row_factory=dict_row) as cursor:
            cursor.execute(text, parameters or None)
            return cursor.fetchall() if cursor.description else []

    def enqueue(self, kind: str = "echo", payload: object = None, **options: Any) -> UUID:
        return enqueue(kind, payload, connection=self.database, **options).id

    def take(self, most: int = 1, queue: str = "default", database: Database | None = None) -> list[Job]:
        return take(database or self.database, queue, most, LEASE, GRACE)

    def offer(
        self, capacity: int = 100, database: Database | None = None, now: datetime | None = None
    ) -> list[Offer]:
        return list(self.offered(capacity, database, now).offers)

    def offered(
        self, capacity: int = 100, database: Database | None = None, now: datetime | None = None
    ) -> Offered:
        return offer(database or self.database, capacity, timedelta(minutes=2), now)

    def claim(self, *offers: Offer, database: Database | None = None) -> list[Job]:
        return claim(database or self.database, offers, LEASE, GRACE)

    def claimed(self, kind: str = "echo", payload: object = None, **options: Any) -> Job:
        """A job that a worker has just claimed."""
        job_id = self.enqueue(kind, payload, **options)
        (job,) = self.take(1, options.get("queue") or "default")
        assert job.id == job_id
        job.lease.start()
        return job

    def work(self, handler: Callable[..., Any], most: int = 1, kind: str = "echo") -> list[Finish]:
        """Have a worker take what is due and handle it."""
        return run_jobs(self.take(most), HandlerTable({kind: handler}), stopping=lambda: False)

    def attempt(self, handler: Callable[..., Any], **options: Any) -> tuple[UUID, Finish]:
        """Have a worker make one attempt at a new job."""
        job_id = self.enqueue(**options)
        (ending,) = self.work(handler)
        return job_id, ending

    def row(self, job_id: UUID) -> Row:
        return get(self.database, job_id)

    def waits(self, job_id: UUID, delay: timedelta) -> bool:
        """Whether a job waits for that long, of which a slow machine has passed some seconds."""
        (row,) = self.sql("select visible - now() as rest from minutehand.jobs where id = %(id)s", id=job_id)
        rest: timedelta = row["rest"]
        return delay - DEADLINE < rest <= delay

    def pass_time(self, job_id: UUID, by: timedelta = LONG) -> None:
        """Let a job's offer, lease or delay end, and some time more pass."""
        self.sql(
            "update minutehand.jobs_live set visible = clock_timestamp() - %(by)s where id = %(id)s",
            id=job_id,
            by=by,
        )

    def let(self, call: Callable[..., Any], *args: Any, **options: Any) -> "Future[Any]":
        """Begin a call in a thread of its own."""
        return self._threads.submit(call, *args, **options)

    def until_done_or_waiting(self, future: "Future[Any]") -> None:
        """Look on until a call has returned, or its statement waits for a lock that another session holds."""
        until(lambda: future.done() or self.sql(WAITING)[0]["waiting"])


# From pg_locks alone: what pg_stat_activity shows in a transaction is what it was at the first look.
WAITING = """select exists (select from pg_locks waits join pg_locks holds using (pid)
                             where not waits.granted and holds.granted and holds.database =
                                   (select oid from pg_database where datname = current_database())) as waiting"""


def until(happened: Callable[[], object]) -> None:
    """Look until something has happened; fail when it never does."""
    deadline = monotonic() + DEADLINE.total_seconds()
    while not happened():
        assert monotonic() < deadline, "it never happened"
