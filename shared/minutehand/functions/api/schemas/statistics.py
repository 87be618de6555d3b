"""Statistics: counts, durations and failures."""

from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field

from minutehand.functions.api.schemas.common import StrictModel, Time
from minutehand.functions.api.schemas.jobs import JOB
from minutehand.model.row import State
from minutehand.queries.depths import MAX_LIMIT
from minutehand.queries.statistics import By, Each


class JobSelection(StrictModel):
    """The jobs to count."""

    queue: str | None = Field(None, description="jobs of this queue")
    kind: str | None = Field(None, description="jobs of this kind")


class CountFilter(JobSelection):
    """The jobs to count by state."""

    since: Time = Field(None, description="finished jobs since this time; the last 24 hours by default")
    by: Each = Field("queue", description="count per queue, or per kind in each queue")
    limit: int | None = Field(
        None, ge=1, le=MAX_LIMIT, description="count at most so many jobs in each state of a queue"
    )


class WindowFilter(JobSelection):
    """The jobs in a window of time."""

    since: Time = Field(None, description="the start; 24 hours before `until` by default")
    until: Time = Field(None, description="the end, exclusive; now by default")


class DurationFilter(WindowFilter):
    """The jobs to measure."""

    by: Each = Field("queue", description="measure per queue, or per kind in each queue")


class HistogramFilter(WindowFilter):
    """The jobs to count, and the bins."""

    by: By = Field("hour", description="hours, at most 100 days; or days, 7 by default, at most 3700")
    zone: str = Field("UTC", description="the time zone of the bins, such as Europe/Berlin")
    each: Each | None = Field(None, description="one histogram per queue or per kind")


class TodayFilter(StrictModel):
    """The day to summarize."""

    zone: str = Field("UTC", description="the time zone of midnight, such as Europe/Berlin")


class Depth(BaseModel):
    """The number of jobs in a state, per queue or per kind in it."""

    queue: str
    kind: str | None = Field(description="only with by=kind")
    state: State
    jobs: int
    more: bool = Field(description="whether there may be more; only with limit")
    since: datetime | None = Field(
        description="when the first of these jobs became due, started or finished; null if none was counted"
    )


class PauseOfEverything(BaseModel):
    """The pause of all jobs."""

    until: datetime | None = Field(description="when it ends by itself")
    reason: str | None
    changed: datetime = Field(description="when it was set")


class Depths(BaseModel):
    """The number of jobs in each state; finished jobs since a time."""

    since: datetime
    paused: PauseOfEverything | None = Field(description="the pause of all jobs, if there is one")
    depths: list[Depth]


class Bin(BaseModel):
    """The jobs enqueued and finished in an hour or a day."""

    start: datetime
    name: str | None = Field(description="the queue or the kind, with each")
    enqueued: int
    done: int
    dead: int
    expired: int
    cancelled: int


class Histogram(BaseModel):
    """Every hour or day of a window, including empty ones."""

    bins: list[Bin]


class Percentiles(BaseModel):
    """Percentiles and the maximum, in seconds."""

    count: int
    p50: float
    p95: float
    p99: float
    max: float = Field(description="the maximum")


class JobDurations(BaseModel):
    """How long attempts ran, and how long jobs waited for their first attempt."""

    queue: str
    kind: str | None
    run: Percentiles | None
    wait: Percentiles | None


class Durations(BaseModel):
    """Durations per queue or per kind."""

    durations: list[JobDurations]


class Failure(BaseModel):
    """The attempts that failed with a type of error."""

    queue: str
    kind: str
    error: str
    attempts: int
    last: datetime


class Failures(BaseModel):
    """Failures, the most frequent first."""

    failures: list[Failure]


class Today(BaseModel):
    """A summary of the current day."""

    pending: int
    running: int
    queues: int = Field(description="queues with unfinished jobs")
    schedules: int = Field(description="schedules and recurring jobs")
    done: int = Field(description="since midnight")
    failed: int = Field(description="dead since midnight")
    last_failed: datetime | None
    next_schedule: datetime | None


LAST = "2026-01-31T07:00:05+00:00"
SECONDS = {"count": 3800, "p50": 0.21, "p95": 1.4, "p99": 4.0, "max": 12.7}
DEPTHS: dict[str, Any] = {
    "since": JOB["enqueued"],
    "paused": None,
    "depths": [
        {"queue": "default", "kind": None, "state": "scheduled", "jobs": 12, "since": JOB["visible"]}
        | {"more": False}
    ],
}
BIN = {
    "start": JOB["visible"],
    "name": None,
    "enqueued": 40,
    "done": 38,
    "dead": 1,
    "expired": 0,
    "cancelled": 0,
}
DURATION = {"queue": "default", "kind": None, "run": SECONDS, "wait": SECONDS}
FAILURE = {
    "queue": "default",
    "kind": "welcome",
    "error": "TimeoutError",
    "attempts": 3,
    "last": LAST,
}
TODAY = {
    "pending": 12,
    "running": 2,
    "queues": 1,
    "schedules": 3,
    "done": 3800,
    "failed": 1,
    "last_failed": LAST,
    "next_schedule": JOB["visible"],
}
