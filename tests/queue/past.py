"""Days of the past with their partitions, and finished rows in them."""

from datetime import UTC, date, datetime, time, timedelta
from uuid import UUID, uuid4

from tests.queue.stage import Queue

OUTCOMES = {
    "done": (False, False),
    "dead": (True, False),
    "expired": (True, False),
    "cancelled": (True, True),
}


def today(queue: Queue) -> date:
    """Return the day by the clock of the database."""
    day: date = queue.sql("select (now() at time zone 'UTC')::date as day")[0]["day"]
    return day


def ago(queue: Queue, days: int) -> date:
    """Return a day of the past, with its partitions."""
    day = today(queue) - timedelta(days=days)
    queue.sql("select minutehand.make_days(0, %(day)s)", day=day)
    return day


def noon(day: date) -> datetime:
    return datetime.combine(day, time(12), UTC)


def finished(
    queue: Queue, at: datetime, outcome: str = "done", /, count: int = 1, **options: object
) -> list[UUID]:
    """Insert jobs that were finished at a time."""
    failed, cancelled = OUTCOMES[outcome]
    columns = {
        "queue": "default",
        "kind": "echo",
        "key": None,
        "version": None,
        "tenant": "",
        "seconds": 0,
    } | options
    rows = queue.sql(
        """insert into minutehand.jobs (queue, kind, key, version, tenant, enqueued, run_at, visible, claimed,
                                        deleted, failed, cancelled, attempts, expires)
           select %(queue)s, %(kind)s, %(key)s, %(version)s, %(tenant)s, %(at)s::timestamptz - interval '1 hour',
                  %(at)s::timestamptz - %(seconds)s * interval '1 second', %(at)s, %(at)s, %(at)s,
                  %(failed)s, %(cancelled)s, %(attempts)s, %(expires)s
             from generate_series(1, %(count)s) returning id""",
        at=at,
        count=count,
        failed=failed,
        cancelled=cancelled,
        attempts=0 if outcome == "expired" else 1,
        expires=timedelta(hours=1) if outcome == "expired" else None,
        **columns,
    )
    return [row["id"] for row in rows]


def attempted(
    queue: Queue, ended: datetime, outcome: str = "done", /, seconds: float = 1, **options: object
) -> UUID:
    """Insert an attempt that ended at a time, and return the id of its job."""
    columns = {
        "queue": "default",
        "kind": "echo",
        "job": uuid4(),
        "attempt": 1,
        "error": None,
        "worker": None,
    } | options
    queue.sql(
        """insert into minutehand.attempts (job, attempt, started, ended, queue, kind, outcome, error, worker)
           values (%(job)s, %(attempt)s, %(ended)s::timestamptz - %(seconds)s * interval '1 second', %(ended)s,
                   %(queue)s, %(kind)s, %(outcome)s, %(error)s::jsonb, %(worker)s)""",
        ended=ended,
        outcome=outcome,
        seconds=seconds,
        **columns,
    )
    job: UUID = columns["job"]  # type: ignore[assignment]
    return job


def happened(queue: Queue, at: datetime, of: str | None = "default") -> None:
    """Insert an event."""
    queue.sql("insert into minutehand.events (at, name, queue) values (%(at)s, 'done', %(of)s)", at=at, of=of)


def partitions(queue: Queue, table: str) -> list[str]:
    """Return the names of the daily partitions of a table."""
    found = queue.sql(
        "select relname from pg_class where relkind = 'r' and relname ~ ('^' || %(table)s || '_[0-9]{8}$') order by 1",
        table=table,
    )
    return [row["relname"] for row in found]
