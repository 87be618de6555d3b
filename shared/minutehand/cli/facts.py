"""Facts: the fields of schedules and batches that commands print."""

from typing import Any

from minutehand.model.new_job import shown_options
from minutehand.queries.batches import BatchRow
from minutehand.schedules import StoredSchedule


def batch_facts(each: BatchRow) -> dict[str, Any]:
    """Return the fields of a batch."""
    return {"id": each.id, "state": each.state} | vars(each)


def schedule_facts(each: StoredSchedule) -> dict[str, Any]:
    """Return the fields of a schedule to show. Payload and headers of its job may be private, and are left out."""
    schedule = {name: value for name, value in vars(each.schedule).items() if name != "job"}
    job = shown_options(each.schedule.job, ("payload", "headers"))
    stored = {name: value for name, value in vars(each).items() if name not in ("schedule", "hash")}
    return schedule | {"job": job} | stored
