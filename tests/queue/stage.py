"""Drive a queue on a real database, with time that the test moves."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from datetime import datetime, timedelta
from threading import Lock
from typing import Any, LiteralString
from uuid import UUID

from psycopg.pq import TransactionStatus
from psycopg.rows import dict_row

from minutehand import Database, Job, enqueue
from minutehand.attempts.in_turn import run_jobs
from minutehand.claim import ANY_TIME_AND_SLOT, claim, take
from minutehand.handlers import HandlerTable
from minutehand.model.offer import Offer
from minutehand.model.outcome import Finish
from minutehand.model.reached import BEGINNING
from minutehand.model.row import Row
from minutehand.offer import Offered, offer
from minutehand.queries.jobs import get
from tests.sessions import Sessions
from tests.waiting import until

LEASE = timedelta(minutes=1)
GRACE = timedelta(seconds=2)
LONG = timedelta(minutes=10)
DEADLINE = timedelta(seconds=20)
# Of the statements that take jobs.
WITHOUT_LIMITS: dict[str, Any] = {"take": ANY_TIME_AND_SLOT, "take_ahead": {**BEGINNING, "behind": None}}


class Queue:
    """A queue, with workers and dispatchers that a test controls."""

    def __init__(self, url: str, admin_url: str, sessions: Sessions | None = None) -> None:
        """Open two sessions, or take those of earlier tests."""
        self._url = url
        self._sessions = ExitStack()
        self._threads = ThreadPoolExecutor(32)
        self._lock = Lock()
        self._opened: list[Database] = []
        self._admin = self._open(admin_url, sessions)
        self.database = self._open(url, sessions)

    def close(self) -> None:
        # After a failure, a thread may wait for a lock of a transaction that is still open.
        self._threads.shutdown(wait=False)
        for connection in (database._connection for database in self._opened):
            if connection and connection.info.transaction_status in (
                TransactionStatus.INTRANS,
                TransactionStatus.INERROR,
            ):
                connection.rollback()
        self._threads.shutdown()
        self._sessions.close()

    @property
    def url(self) -> str:
        """The URL of this database, with its password."""
        return self._url

    def another(self) -> Database:
        """Open another session of the same database."""
        return self._open(self._url)

    def _open(self, url: str, sessions: Sessions | None = None) -> Database:
        if sessions:
            database = sessions.open(url)
            self._sessions.callback(sessions.keep, database, url)
            return database
        database = Database(url)
        # Connect before a thread uses it.
        assert database.connection
        self._sessions.callback(database.close)
        self._opened.append(database)
        return database

    def sql(self, text: LiteralString, /, **parameters: object) -> list[dict[str, Any]]:
        """Run a statement directly on the server, without the pooler. Threads take turns."""
        with self._lock, self._admin.connection.cursor(row_factory=dict_row) as cursor:
            cursor.execute(text, parameters or None)
            return cursor.fetchall() if cursor.description else []

    def enqueue(self, kind: str = "echo", payload: object = None, **options: Any) -> UUID:
        return enqueue(kind, payload, connection=self.database, **options).id

    def take(
        self,
        limit: int = 1,
        queue: str = "default",
        database: Database | None = None,
        now: datetime | None = None,
    ) -> list[Job]:
        return take(database or self.database, queue, limit, LEASE, GRACE, now)

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
        """Return a job that a worker has just claimed."""
        job_id = self.enqueue(kind, payload, **options)
        (job,) = self.take(1, options.get("queue") or "default")
        assert job.id == job_id
        job.lease.start()
        return job

    def work(self, handler: Callable[..., Any], limit: int = 1, kind: str = "echo") -> list[Finish]:
        """Let a worker take due jobs and handle them."""
        return run_jobs(self.take(limit), HandlerTable({kind: handler}), stopping=lambda: False)

    def attempt(self, handler: Callable[..., Any], **options: Any) -> tuple[UUID, Finish]:
        """Let a worker make one attempt at a new job."""
        job_id = self.enqueue(**options)
        (ending,) = self.work(handler)
        return job_id, ending

    def row(self, job_id: UUID) -> Row:
        return get(self.database, job_id)

    def waits(self, job_id: UUID, delay: timedelta) -> bool:
        """Whether a job is due after `delay`, less some seconds on a slow machine."""
        (row,) = self.sql("select visible - now() as rest from minutehand.jobs where id = %(id)s", id=job_id)
        remaining: timedelta = row["rest"]
        return delay - DEADLINE < remaining <= delay

    def pass_time(self, job_id: UUID, by: timedelta = LONG) -> None:
        """Let a job's offer, lease or delay end, `by` ago."""
        self.sql(
            # An update of run_at records the lane.
            """update minutehand.jobs_live set visible = clock_timestamp() - %(by)s, run_at = run_at
                where id = %(id)s""",
            id=job_id,
            by=by,
        )

    def start(self, call: Callable[..., Any], *args: Any, **options: Any) -> "Future[Any]":
        """Start a call in a thread."""
        return self._threads.submit(call, *args, **options)

    def until_done_or_waiting(self, future: "Future[Any]") -> None:
        """Wait until a call has returned, or its statement waits for a lock of another session."""
        until(lambda: future.done() or self.sql(WAITING)[0]["waiting"])


# From pg_locks alone: within a transaction, pg_stat_activity returns what it returned at first.
WAITING = """select exists (select from pg_locks waiter join pg_locks holder using (pid)
                             where not waiter.granted and holder.granted and holder.database =
                                   (select oid from pg_database where datname = current_database())) as waiting"""
