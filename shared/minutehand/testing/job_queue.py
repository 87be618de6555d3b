"""The queue as a test sees it: what is enqueued, time that passes on order, and a worker that works it off."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from minutehand.claim import claim, take
from minutehand.database import Connection, Database
from minutehand.enqueue import enqueue
from minutehand.errors import ConfigurationError, InvalidJobError
from minutehand.job import Job
from minutehand.model.new_job import check_moment
from minutehand.model.offer import Offer
from minutehand.model.row import FINISHED, Row
from minutehand.queries.jobs import clock
from minutehand.testing.attempts import AnyHandlers, Attempt, Drained, StillDue, attempt
from minutehand.testing.expect import Wanted, not_none, not_one, tell
from minutehand.testing.statements import run

LEASE = timedelta(minutes=5)
GRACE = timedelta(seconds=2)
BEGUN = {*FINISHED, "running"}


class JobQueue:
    """The queue of one test's database."""

    def __init__(self, database: Database, handlers: AnyHandlers) -> None:
        """Look at a database, and work with these handlers: functions by kind, or a HandlerPackage."""
        self._database = database
        self._handlers = handlers

    def within(self, connection: Connection) -> "JobQueue":
        """Return the same queue through your connection: it sees what your open transaction has enqueued."""
        return JobQueue(Database.borrow(connection), self._handlers)

    def jobs(self, kind: str | None = None) -> list[Row]:
        """Return every job in whatever state, the first enqueued first."""
        rows = [Row.from_record(record) for record in run(self._database, "jobs", id=None)]
        return [row for row in rows if kind is None or row.kind == kind]

    def enqueued(
        self, kind: str | None = None, payload: object = None, *, queue: str | None = None,
        key: str | None = None, run_at: datetime | None = None, headers: Mapping[str, str] | None = None,
    ) -> list[Row]:  # fmt: skip
        """Return the jobs that wait, due or not, the first enqueued first.

        Of `payload` and `headers` the members that you name have to be there; the rest has to be equal.
        """
        wanted = Wanted(kind=kind, payload=payload, queue=queue, key=key, run_at=run_at, headers=headers)
        return _fitting(wanted, self.jobs())

    def assert_enqueued(
        self, kind: str | None = None, payload: object = None, *, queue: str | None = None,
        key: str | None = None, run_at: datetime | None = None, headers: Mapping[str, str] | None = None,
    ) -> Row:  # fmt: skip
        """Return the one job that waits and is like this; fail if there is none, or more than one."""
        __tracebackhide__ = True
        wanted = Wanted(kind=kind, payload=payload, queue=queue, key=key, run_at=run_at, headers=headers)
        rows = self.jobs()
        fitting = _fitting(wanted, rows)
        if len(fitting) != 1:
            waiting = [row for row in rows if row.state not in BEGUN]
            raise AssertionError(not_one(wanted, waiting, [row for row in rows if row.state in BEGUN]))
        return fitting[0]

    def refute_enqueued(
        self, kind: str | None = None, payload: object = None, *, queue: str | None = None,
        key: str | None = None, run_at: datetime | None = None, headers: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        """Fail if a job waits that is like this."""
        __tracebackhide__ = True
        wanted = Wanted(kind=kind, payload=payload, queue=queue, key=key, run_at=run_at, headers=headers)
        if fitting := _fitting(wanted, self.jobs()):
            raise AssertionError(not_none(wanted, fitting))

    def drain(
        self, *, at: datetime | None = None, queue: str | None = None, raising: bool = True,
        most: int = 1000, handlers: AnyHandlers | None = None,
    ) -> Drained:  # fmt: skip
        """Work off what is due, and what becomes due by it, until nothing is; of one `queue` or all.

        With `at`, time passes until that moment first. The first failure is raised once it is written down;
        `raising=False` goes on and leaves it to you to look at the endings. More than `most` attempts fail.
        """
        if at is not None:
            self.travel(to=at)
        self._database.run("sweep", now=self.now)  # as a tick does: finds what was inserted by hand
        attempts: list[Attempt] = []
        while len(attempts) < most and (job := self._take(queue)):
            attempts.append(self._attempt(job, handlers))
            if raising:
                attempts[-1].raise_for_failure()
        if len(attempts) == most and run(self._database, "due", queue=queue):
            raise StillDue(_endless(attempts))
        return Drained(attempts)

    def perform(
        self, kind: str, payload: object = None, *, raising: bool = True,
        handlers: AnyHandlers | None = None, **options: Any,
    ) -> Attempt:  # fmt: skip
        """Enqueue one job with the options of `enqueue`, make one attempt at it alone, and return it."""
        if "connection" in options:
            raise InvalidJobError("connection", "say queue.within(connection).perform(...) instead")
        enqueued = enqueue(kind, payload, connection=self._database, **options)
        (invited,) = run(self._database, "invite", id=enqueued.id)
        (job,) = claim(self._database, [Offer(**invited)], LEASE, GRACE)
        made = self._attempt(job, handlers)
        if raising:
            made.raise_for_failure()
        return made

    @property
    def now(self) -> datetime:
        """The moment by this database's clock, which `travel` moves."""
        return clock(self._database)

    def travel(self, to: datetime | None = None, by: timedelta | None = None) -> datetime:
        """Let time pass in this database, until a moment or for a while; return what time it is now.

        It only goes forward: a moment that has passed changes nothing. Python's own clock stays as it is.
        """
        now = self.now
        if (to is None) == (by is None):
            raise InvalidJobError("run_at_or_delay", "travel to a moment, or by a while, and not both")
        moment = now + by if by is not None else check_moment(to)
        if moment > now:
            run(self._database, "travel", to=moment)
            if self.now < moment - timedelta(seconds=1):
                raise ConfigurationError(
                    "the clock cannot be moved: this role has a search_path of its own without minutehand_testing"
                )
        elif by is not None and by < timedelta():
            raise InvalidJobError("delay_is_not_negative", "time only goes forward")
        return self.now

    def _take(self, queue: str | None) -> Job | None:
        # The statement's own now() is the beginning of the transaction, in which a test may have enqueued meanwhile.
        for record in run(self._database, "due", queue=queue):
            if jobs := take(self._database, record["queue"], 1, LEASE, GRACE, self.now):
                return jobs[0]
        return None

    def _attempt(self, job: Job, handlers: AnyHandlers | None) -> Attempt:
        return attempt(job, self._handlers if handlers is None else handlers, lambda: self._row(job.id))

    def _row(self, job_id: UUID) -> Row:
        return Row.from_record(run(self._database, "jobs", id=job_id)[0])


def _fitting(wanted: Wanted, rows: list[Row]) -> list[Row]:
    return [row for row in rows if row.state not in BEGUN and not wanted.differences(row)]


def _endless(attempts: list[Attempt]) -> str:
    latest = f"; the latest was {attempts[-1].ending}: {tell(attempts[-1].job)}" if attempts else ""
    return (
        f"{len(attempts)} attempts were made and jobs are due all the same{latest}. "
        "If that is as it should be, say drain(most=...)"
    )
