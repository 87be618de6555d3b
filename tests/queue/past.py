"""History as a test makes it: days of the past with their partitions, and finished rows in them."""

from datetime import UTC, date, datetime, time, timedelta
from uuid import UUID, uuid4

from tests.queue.stage import Queue

OUTCOMES = {"done": (False, False), "dead": (True, False), "cancelled": (True, True)}


def today(queue: Queue) -> date:
    """The day by the database's clock."""
    day: date = queue.sql("select (now() at time zone 'UTC')::date as day")[0]["day"]
    return day


def ago(queue: Queue, days: int) -> date:
    """A day of the past, whose partitions are made."""
    day = today(queue) - timedelta(days=days)
    queue.sql("select minutehand.make_days(0, %(day)s)", day=day)
    return day


def noon(day: date) -> datetime:
    return datetime.combine(day, time(12), UTC)


def finished(
    queue: Queue, at: datetime, outcome: str = "done", /, count: int = 1, **more: object
) -> list[UUID]:
    """Write jobs that were finished at that moment."""
    failed, cancelled = OUTCOMES[outcome]
    said = {
        "queue": "default",
        "kind": "echo",
        "key": None,
        "version": None,
        "tenant": "",
        "seconds": 0,
    } | more
    rows = queue.sql(
        """insert into minutehand.jobs (queue, kind, key, version, tenant, enqueued, run_at, visible, claimed, deleted,
                                        failed, cancelled, attempts)
           select %(queue)s, %(kind)s, %(key)s, %(version)s, %(tenant)s, %(at)s::timestamptz - interval '1 hour',
                  %(at)s::timestamptz - %(seconds)s * interval '1 second', %(at)s, %(at)s, %(at)s,
                  %(failed)s, %(cancelled)s, 1 from generate_series(1, %(count)s) returning id""",
        at=at, count=count, failed=failed, cancelled=cancelled, **said,
    )  # fmt: skip
    return [row["id"] for row in rows]


def attempted(
    queue: Queue, ended: datetime, outcome: str = "done", /, seconds: float = 1, **more: object
) -> UUID:
    """Write an attempt that ended at that moment; return its job's id."""
    said = {
        "queue": "default",
        "kind": "echo",
        "job": uuid4(),
        "attempt": 1,
        "error": None,
        "worker": None,
    } | more
    queue.sql(
        """insert into minutehand.attempts (job, attempt, started, ended, queue, kind, outcome, error, worker)
           values (%(job)s, %(attempt)s, %(ended)s::timestamptz - %(seconds)s * interval '1 second', %(ended)s,
                   %(queue)s, %(kind)s, %(outcome)s, %(error)s::jsonb, %(worker)s)""",
        ended=ended, outcome=outcome, seconds=seconds, **said,
    )  # fmt: skip
    job: UUID = said["job"]  # type: ignore[assignment]
    return job


def happened(queue: Queue, at: datetime, of: str | None = "default") -> None:
    """Write an event."""
    queue.sql("insert into minutehand.events (at, name, queue) values (%(at)s, 'done', %(of)s)", at=at, of=of)


def partitions(queue: Queue, home: str) -> list[str]:
    """The names of a table's days."""
    found = queue.sql(
        "select relname from pg_class where relkind = 'r' and relname ~ ('^' || %(home)s || '_[0-9]{8}$') order by 1",
        home=home,
    )
    return [row["relname"] for row in found]
