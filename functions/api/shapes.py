"""Shapes: what the answers about history and counts look like, with an example of each."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from fastapi.openapi.models import Example
from pydantic import BaseModel, Field

from openapi import COMMON, DEPTHS, JOB, WITH_BODY, _says
from told import Error, Stats

HOUR = {"enqueued": 40, "done": 38, "dead": 1, "cancelled": 0}
SECONDS = {"count": 3800, "p50": 0.21, "p95": 1.4, "p99": 4.0, "max": 12.7}


class Attempt(BaseModel):
    """An attempt that has ended."""

    job: UUID
    attempt: int
    started: datetime
    ended: datetime
    outcome: str = Field(description="done, retrying, dead, snoozed ..., or lapsed: its worker went silent")
    worker: str | None = Field(description="the function or process that had the claim")
    request: str | None = Field(description="Lambda's request id")
    version: str | None = Field(description="the code that handled it")
    memory_mb: int | None
    error: Error | None
    result: Any = Field(None, description="what one that failed had so far, only with include=payload")


class Attempts(BaseModel):
    """Every attempt at a job that has ended, the first one first."""

    attempts: list[Attempt]


class Queues(BaseModel):
    """Queues that have or had jobs, or of which something is set."""

    queues: list[str]


class Bin(BaseModel):
    """What became of jobs in an hour or a day."""

    start: datetime
    name: str | None = Field(description="the queue or the kind, if each was asked for")
    enqueued: int
    done: int
    dead: int
    cancelled: int


class Histogram(BaseModel):
    """Every hour or day of a window, also those in which nothing happened."""

    bins: list[Bin]


class Spread(BaseModel):
    """Seconds: what half of them took at most, 95 and 99 in a hundred, and all."""

    count: int
    p50: float
    p95: float
    p99: float
    max: float


class Duration(BaseModel):
    """How long attempts ran, and jobs waited for their first one."""

    queue: str
    kind: str | None
    run: Spread | None
    wait: Spread | None


class Durations(BaseModel):
    """Durations by queue, or by kind."""

    durations: list[Duration]


class Failure(BaseModel):
    """How many attempts failed with a type of error."""

    queue: str
    kind: str
    error: str
    attempts: int
    last: datetime


class Failures(BaseModel):
    """Failures, the most first."""

    failures: list[Failure]


class Today(BaseModel):
    """The queue at a glance."""

    pending: int
    running: int
    queues: int = Field(description="that have jobs which are not finished")
    schedules: int = Field(description="schedules and jobs that recur")
    done: int = Field(description="since midnight")
    failed: int = Field(description="dead since midnight")
    last_failed: datetime | None
    next_schedule: datetime | None


class Kept(BaseModel):
    """How long a queue's history is kept, in seconds; null is as for every queue, and there for ever."""

    queue: str | None
    done: float | Literal["forever"] | None
    dead: float | Literal["forever"] | None
    cancelled: float | Literal["forever"] | None
    attempts: float | Literal["forever"] | None
    events: float | Literal["forever"] | None


class Retentions(BaseModel):
    """All that was said of retention, that of every queue first."""

    retention: list[Kept]
    keep_until_archived: bool


def _told(what: str, model: type[Any], example: object, *more: int) -> dict[str, Any]:
    return _says(200, what, model, example, *COMMON, *more)


_KEPT = {
    "queue": None,
    "done": 86400.0,
    "dead": 604800.0,
    "cancelled": 86400.0,
    "attempts": 604800.0,
    "events": None,
}
_ATTEMPT = {
    "job": JOB["id"], "attempt": 1, "started": "2026-01-31T07:00:04+00:00", "ended": "2026-01-31T07:00:05+00:00",
    "outcome": "retrying", "worker": "minutehand-worker", "request": "8f5a1c9e", "version": "42", "memory_mb": 512,
    "error": {"type": "TimeoutError", "message": "the mail server did not answer"},
}  # fmt: skip
_FAILURE = {
    "queue": "default", "kind": "welcome", "error": "TimeoutError", "attempts": 3, "last": _ATTEMPT["ended"]
}  # fmt: skip
_TODAY = {
    "pending": 12, "running": 2, "queues": 1, "schedules": 3, "done": 3800, "failed": 1,
    "last_failed": _ATTEMPT["ended"], "next_schedule": JOB["visible"],
}  # fmt: skip
RETENTION: dict[str, Example] = {
    "of every queue": {
        "value": {"done": "P1D", "dead": "P7D", "cancelled": "P1D", "attempts": "P7D", "events": "P3D"}
    },
    "of one": {"value": {"queue": "billing", "done": "forever", "dead": "forever"}},
}

ATTEMPTS = _told("The attempts", Attempts, {"attempts": [_ATTEMPT]}, 404)
QUEUES = _told("Their names", Queues, {"queues": ["default", "mail"]})
COUNTS = _told("The counts", Stats, DEPTHS)
HISTOGRAM = _told("The bins", Histogram, {"bins": [{"start": JOB["visible"], "name": None, **HOUR}]})
DURATIONS = _told(
    "The durations", Durations, {"durations": [{"queue": "default", "kind": None, "run": SECONDS, "wait": SECONDS}]}
)  # fmt: skip
FAILURES = _told("The failures", Failures, {"failures": [_FAILURE]})
TODAY = _told("The glance", Today, _TODAY)
KEPT = _told("What was said", Retentions, {"retention": [_KEPT], "keep_until_archived": False})
KEEP = _says(
    200, "What is said now", Retentions, {"retention": [_KEPT], "keep_until_archived": False}, *WITH_BODY
)  # fmt: skip
