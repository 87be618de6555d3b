"""Jobs that recur, and their upcoming occurrences."""

from datetime import UTC, datetime
from typing import Any

from minutehand import Job
from minutehand.model.outcome import Cancelled, Done, Failed, Outcome, Released, Snoozed
from tests.queue.stage import LONG, Queue

ERROR = {"type": "ValueError", "message": "no", "trace": ""}


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


NOMINAL, NEXT = utc("2041-01-07 08:00+00"), utc("2041-01-08 08:00+00")


def recurring(
    stage: Queue,
    every: str = "P1D",
    zone: str | None = None,
    nominal: datetime | None = NOMINAL,
    **options: Any,
) -> Job:
    """Return a recurring job that is claimed now, with any nominal time."""
    job_id = stage.enqueue(**options)
    stage.sql(
        "update minutehand.jobs_live set every = %(every)s, zone = %(zone)s, nominal = %(nominal)s where id = %(id)s",
        id=job_id,
        every=every,
        zone=zone,
        nominal=nominal,
    )
    (job,) = stage.take(1, options.get("queue") or "default")
    assert job.id == job_id
    job.lease.start()
    return job


def upcoming(queue: Queue) -> list[dict[str, Any]]:
    return queue.sql("select * from minutehand.jobs where deleted is null and claimed is null order by id")


def nominals(queue: Queue) -> list[datetime]:
    return [row["nominal"].astimezone(UTC) for row in upcoming(queue)]


ENDS: dict[str, tuple[Outcome, bool]] = {
    "done": (Done(), True),
    "dead": (Failed(ERROR, final=True), True),
    "cancelled": (Cancelled(ERROR), False),
    "retried": (Failed(ERROR, delay=LONG), False),
    "snoozed": (Snoozed(LONG), False),
    "released": (Released(LONG), False),
}
