"""The queue in a test: inspect jobs, move time, and run jobs with a worker."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import takewhile
from typing import Any
from uuid import UUID

from minutehand.claim import claim, take
from minutehand.claimed_job import Job
from minutehand.database import Connection, Database
from minutehand.enqueue import enqueue
from minutehand.errors import ConfigurationError, InvalidJobError
from minutehand.model.new_job import check_time
from minutehand.model.offer import Offer
from minutehand.model.row import FINISHED, Row
from minutehand.queries.jobs import clock
from minutehand.settings.table import CONCURRENCY
from minutehand.testing.attempts import AnyHandlers, Attempt, Drained, StillDue, attempts, run_in_loop
from minutehand.testing.expect import Expected, describe, describe_missing, describe_unexpected
from minutehand.testing.statements import run

LEASE = timedelta(minutes=5)
GRACE = timedelta(seconds=2)
BEGUN = {*FINISHED, "running"}


class JobQueue:
    """The queue of one test's database."""

    def __init__(self, database: Database, handlers: AnyHandlers) -> None:
        """Read a database and run its jobs with these handlers: functions by kind, or a HandlerPackage."""
        self._database = database
        self._handlers = handlers

    def within(self, connection: Connection) -> "JobQueue":
        """Return the same queue on your connection, which sees the jobs of your open transaction."""
        return JobQueue(Database.borrow(connection), self._handlers)

    def jobs(self, kind: str | None = None) -> list[Row]:
        """Return all jobs in any state, in the order in which they were enqueued."""
        rows = [Row.from_record(record) for record in run(self._database, "jobs", id=None)]
        return [row for row in rows if kind is None or row.kind == kind]

    def enqueued(
        self,
        kind: str | None = None,
        payload: object = None,
        *,
        queue: str | None = None,
        key: str | None = None,
        run_at: datetime | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> list[Row]:
        """Return the pending jobs, due or not, in the order in which they were enqueued.

        `payload` and `headers` match if they contain the given members; the other arguments must be equal.
        """
        expected = Expected(kind=kind, payload=payload, queue=queue, key=key, run_at=run_at, headers=headers)
        return _matching(expected, self.jobs())

    def assert_enqueued(
        self,
        kind: str | None = None,
        payload: object = None,
        *,
        queue: str | None = None,
        key: str | None = None,
        run_at: datetime | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Row:
        """Return the one pending job that matches; fail if there is none, or more than one."""
        __tracebackhide__ = True
        expected = Expected(kind=kind, payload=payload, queue=queue, key=key, run_at=run_at, headers=headers)
        rows = self.jobs()
        matching = _matching(expected, rows)
        if len(matching) != 1:
            waiting = [row for row in rows if row.state not in BEGUN]
            raise AssertionError(
                describe_missing(expected, waiting, [row for row in rows if row.state in BEGUN])
            )
        return matching[0]

    def refute_enqueued(
        self,
        kind: str | None = None,
        payload: object = None,
        *,
        queue: str | None = None,
        key: str | None = None,
        run_at: datetime | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Fail if a pending job matches."""
        __tracebackhide__ = True
        expected = Expected(kind=kind, payload=payload, queue=queue, key=key, run_at=run_at, headers=headers)
        if matching := _matching(expected, self.jobs()):
            raise AssertionError(describe_unexpected(expected, matching))

    def drain(
        self,
        *,
        at: datetime | None = None,
        queue: str | None = None,
        raising: bool = True,
        limit: int = 1000,
        handlers: AnyHandlers | None = None,
    ) -> Drained:
        """Run due jobs, of one `queue` or all, until none is due, including jobs that they enqueue.

        Async jobs that follow each other in a queue run at the same time, up to MINUTEHAND_CONCURRENCY.
        `at` first moves the clock to that time. The first failure is raised after it was stored; with `raising=False`
        all jobs run, and you check their endings. More than `limit` attempts raise StillDue.
        """
        if at is not None:
            self.travel(to=at)
        # A sweep, as in a tick, finds rows that were inserted with plain SQL.
        self._database.run("sweep", now=self.now)
        made: list[Attempt] = []
        handlers = self._handlers if handlers is None else handlers
        while len(made) < limit and (jobs := self._take(queue, handlers, limit - len(made))):
            made += (latest := self._attempts(jobs, handlers))
            for each in latest if raising else ():
                each.raise_for_failure()
        if len(made) == limit and run(self._database, "due", queue=queue):
            raise StillDue(_endless(made))
        return Drained(made)

    def perform(
        self,
        kind: str,
        payload: object = None,
        *,
        raising: bool = True,
        handlers: AnyHandlers | None = None,
        **options: Any,
    ) -> Attempt:
        """Enqueue one job with the options of `enqueue`, run one attempt of only this job, and return it."""
        if "connection" in options:
            raise InvalidJobError(
                "connection", "connection must not be given: use queue.within(connection).perform(...)"
            )
        enqueued = enqueue(kind, payload, connection=self._database, **options)
        (invited,) = run(self._database, "invite", id=enqueued.id)
        (job,) = claim(self._database, [Offer(**invited)], LEASE, GRACE)
        (result,) = self._attempts([job], self._handlers if handlers is None else handlers)
        if raising:
            result.raise_for_failure()
        return result

    @property
    def now(self) -> datetime:
        """The current time of the database's clock, which `travel` moves."""
        return clock(self._database)

    def travel(self, to: datetime | None = None, by: timedelta | None = None) -> datetime:
        """Move the database's clock forward, `to` a time or `by` a duration; return the new time.

        A time in the past changes nothing. Python's clock does not change.
        """
        now = self.now
        if (to is None) == (by is None):
            got = "both" if to else "neither"
            raise InvalidJobError("run_at_or_delay", f"expected `to` or `by`, got {got}")
        moment = now + by if by is not None else check_time(to)
        if moment > now:
            run(self._database, "travel", to=moment)
            if self.now < moment - timedelta(seconds=1):
                raise ConfigurationError(
                    "the clock cannot be moved: the role's search_path must contain minutehand_testing"
                )
        elif by is not None and by < timedelta():
            raise InvalidJobError("delay_is_not_negative", "by must not be negative: time only moves forward")
        return self.now

    def _take(self, queue: str | None, handlers: AnyHandlers, limit: int) -> list[Job]:
        """Take the next due job, and if it is async, the async ones that follow it in its queue."""
        # In a test's open transaction now() is its start, which is before the jobs that it enqueued.
        for record in run(self._database, "due", queue=queue):
            if jobs := self._take_from(record["queue"], 1):
                more = min(limit, CONCURRENCY.read()) - 1
                if run_in_loop(jobs[0].kind, handlers) and more and not self._database.borrowed:
                    jobs += self._take_from(jobs[0].queue, self._async_next(jobs[0].queue, handlers, more))
                return jobs
        return []

    def _take_from(self, queue: str, limit: int) -> list[Job]:
        return take(self._database, queue, limit, LEASE, GRACE, self.now) if limit else []

    def _async_next(self, queue: str, handlers: AnyHandlers, limit: int) -> int:
        """Return how many of the next due jobs are async."""
        following = run(self._database, "following", queue=queue, limit=limit)
        return len([*takewhile(lambda record: run_in_loop(record["kind"], handlers), following)])

    def _attempts(self, jobs: Sequence[Job], handlers: AnyHandlers) -> list[Attempt]:
        return attempts(jobs, handlers, self._row, CONCURRENCY.read())

    def _row(self, job_id: UUID) -> Row:
        return Row.from_record(run(self._database, "jobs", id=job_id)[0])


def _matching(expected: Expected, rows: list[Row]) -> list[Row]:
    return [row for row in rows if row.state not in BEGUN and not expected.differences(row)]


def _endless(attempts: list[Attempt]) -> str:
    latest = f"; the latest was {attempts[-1].ending}: {describe(attempts[-1].job)}" if attempts else ""
    return (
        f"jobs are still due after {len(attempts)} attempts{latest}. "
        "If this is expected, raise the limit with drain(limit=...)"
    )
