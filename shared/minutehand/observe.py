"""What a worker tells about each job, for logs, metrics and live views: facts, never a payload."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from minutehand.finish import Finish
from minutehand.job import Job


@dataclass(frozen=True)
class Event:
    """Something that happened to a job: `claimed`, or an ending of `finish`."""

    name: str
    job: Job
    facts: dict[str, Any] = field(default_factory=dict)


Observer = Callable[[Event], None]


def claimed(job: Job) -> Event:
    """Tell that a worker has begun."""
    return Event("claimed", job, {"lateness_ms": round(job.lateness.total_seconds() * 1000)})


def finished(job: Job, finish: Finish, ran_ms: int) -> Event:
    """Tell how an attempt ended."""
    facts: dict[str, Any] = {"ran_ms": ran_ms}
    if finish.visible is not None:
        facts["visible"] = finish.visible.isoformat()
    if finish.error is not None:
        facts["error_type"] = finish.error["type"]  # not its message, which may quote a payload
    return Event(finish.ending, job, facts)


def nobody(_event: Event) -> None:
    """Tell nobody."""
