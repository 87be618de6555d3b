"""Searches: counts of the jobs that match, changes to all of them, and causes of failures."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi.openapi.models import Example
from pydantic import BaseModel, Field, StrictBool, StrictFloat, StrictInt

from minutehand.functions.api.schemas.common import Duration, StrictModel, Time
from minutehand.functions.api.schemas.job_filter import SearchFilter, Text
from minutehand.functions.api.schemas.jobs import JOB, Job
from minutehand.model.row import State
from minutehand.operations.matching import MAX_LIMIT, Verb


class MatchingRequest(StrictModel):
    """One change to all jobs that match a filter; with `dry_run` only their number."""

    verb: Verb
    filter: SearchFilter
    dry_run: StrictBool = Field(True, description="count the jobs and change nothing")
    limit: Annotated[StrictInt, Field(ge=1, le=MAX_LIMIT)] = Field(
        1000, description="the maximum number of jobs"
    )
    after: UUID | None = Field(None, description="continue after a request: its `after`")
    reason: Text = Field("on request", description="for cancel")
    run_at: Time = Field(None, description="for reschedule: a time in the past means now")
    delay: Duration = Field(None, description="for reschedule: seconds, or ISO 8601")
    per_minute: Annotated[StrictInt | StrictFloat, Field(ge=0.001, le=1_000_000)] | None = Field(
        None, description="for retry: the rate, all at once by default"
    )


class Matching(BaseModel):
    """The jobs that would change, or the outcomes of the change. Fields of the other case are null."""

    dry_run: bool
    count: int | None = Field(None, description="the number of jobs")
    more: bool | None = Field(None, description="whether there may be more jobs than `count`")
    sample: list[Job] | None = Field(None, description="the newest of them")
    changed: int | None = None
    requested: int | None = None
    refused: int | None = None
    absent: int | None = None
    refusals: dict[str, int] | None = Field(None, description="the reasons of refusals")
    after: UUID | None = Field(None, description="to continue, repeat the request with it; null at the end")


class StateCounts(BaseModel):
    """The number of jobs that match, by state."""

    counts: dict[State, int]
    more: list[State] = Field(description="the states of which there may be more jobs")
    stopped: bool = Field(description="whether there are jobs that were not searched")


class CauseFilter(StrictModel):
    """The failures to group."""

    window: Literal["1h", "24h", "7d"] = Field("24h", description="the last hour, day or week")
    queue: Text | None = Field(None, description="jobs of this queue")
    kind: Text | None = Field(None, description="jobs of this kind")


class Cause(BaseModel):
    """The failures of a kind in a queue with one cause."""

    cause: str = Field(
        description="the type of the error, and its message with # for numbers and quoted texts"
    )
    type: str
    message: str | None = Field(description="the message of one of the jobs")
    queue: str
    kind: str
    jobs: int
    dead: int = Field(description="the jobs that died; the others wait for another attempt")
    first: datetime
    last: datetime
    trend: list[int] = Field(description="the numbers of failures in 24 parts of the window")
    sample: list[UUID] = Field(description="the latest jobs")
    filter: dict[str, Any] = Field(description="the parameters of GET /jobs that list its dead jobs")


class Causes(BaseModel):
    """Failures by cause, the most frequent first."""

    since: datetime
    until: datetime
    read: int = Field(description="the number of jobs that were read")
    complete: bool = Field(description="false if there were more jobs to read")
    groups: list[Cause]


MATCHING = {"dry_run": True, "count": 12, "more": False, "sample": [JOB], "after": None}
COUNTS = {"counts": {"dead": 12, "scheduled": 3}, "more": [], "stopped": False}
CAUSES = {
    "since": JOB["enqueued"],
    "until": JOB["visible"],
    "read": 12,
    "complete": True,
    "groups": [
        {
            "cause": "TimeoutError: no answer from # in # s",
            "type": "TimeoutError",
            "message": "no answer from 10.0.0.7 in 30 s",
            "queue": "mail",
            "kind": "welcome",
            "jobs": 12,
            "dead": 12,
            "first": JOB["enqueued"],
            "last": JOB["visible"],
            "trend": [0] * 23 + [12],
            "sample": [JOB["id"]],
            "filter": {"queue": "mail", "kind": "welcome", "cause": "TimeoutError: no answer from # in # s"},
        }
    ],
}
MATCHING_REQUESTS: dict[str, Example] = {
    "retry what failed with a cause": {
        "value": {
            "verb": "retry",
            "filter": {"queue": "mail", "cause": "TimeoutError: no answer from # in # s"},
            "dry_run": True,
        }
    }
}
