"""Bulk changes: one change to many jobs."""

from collections import Counter
from collections.abc import Iterable
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi.openapi.models import Example
from pydantic import BaseModel, Field, StrictBool, StrictFloat, StrictInt

from minutehand.functions.api.schemas.common import BATCH_LIMIT, Duration, StrictModel, Time
from minutehand.functions.api.schemas.jobs import JOB
from minutehand.model.row import State
from minutehand.operations.change import Change

OUTCOMES = ("changed", "requested", "refused", "absent")


class BulkChangeRequest(StrictModel):
    """One change to many jobs; each follows the rules of a change to one job."""

    verb: Literal["cancel", "promote", "reschedule", "retry", "replay", "delete"]
    ids: Annotated[list[UUID], Field(min_length=1, max_length=BATCH_LIMIT)]
    reason: Annotated[str, Field(max_length=1000)] = Field("on request", description="for cancel")
    running: StrictBool = Field(
        False, description="for cancel: request running jobs to stop at their next check"
    )
    run_at: Time = Field(None, description="for reschedule: a time in the past means now")
    delay: Duration = Field(None, description="for reschedule: seconds, or ISO 8601")


class FinishedJobFilter(StrictModel):
    """The finished jobs to select."""

    queue: str | None = Field(None, description="jobs of this queue")
    kind: str | None = Field(None, description="jobs of this kind")
    since: Time = Field(None, description="jobs finished at or after this time")
    before: Time = Field(None, description="jobs finished before this time")
    limit: Annotated[StrictInt, Field(ge=1, le=10_000)] = Field(
        1000, description="the maximum number of jobs; repeat the request for more"
    )


class RetryRequest(FinishedJobFilter):
    """The dead jobs to retry, and the rate."""

    per_minute: Annotated[StrictInt | StrictFloat, Field(ge=0.001, le=1_000_000)]


class ReplayRequest(FinishedJobFilter):
    """The finished jobs to run again, and the time over which they are spread."""

    state: list[Literal["done", "dead", "expired", "cancelled"]] = Field(["done"], min_length=1)
    older_than: str | None = Field(
        None, max_length=200, description="jobs finished by code older than this version"
    )
    other_than: str | None = Field(
        None, max_length=200, description="jobs finished by code of another version"
    )
    window: Duration = Field(None, description="spread the jobs over this time: seconds, or ISO 8601")
    suffix: str = Field("", max_length=1000, description="added to the keys")


class JobChange(BaseModel):
    """The outcome of a change to one job."""

    id: UUID
    outcome: Literal["changed", "requested", "refused", "absent"]
    state: State | None = Field(None, description="the job's state, which does not allow the change")
    reason: str | None = Field(None, description="the reason of a refusal")
    new: UUID | None = Field(None, description="the job that a replay created")


class JobChanges(BaseModel):
    """The outcomes of a change to many jobs: their counts, and each job."""

    changed: int
    requested: int
    refused: int
    absent: int
    jobs: list[JobChange]


def change_fields(change: Change) -> dict[str, Any]:
    """Return the fields of a change that are set."""
    return {name: value for name, value in vars(change).items() if value not in (None, "")}


def changes_fields(changes: Iterable[Change]) -> dict[str, Any]:
    """Return the outcomes of many changes."""
    jobs = [change_fields(change) for change in changes]
    counts = Counter(job["outcome"] for job in jobs)
    return {**{outcome: counts[outcome] for outcome in OUTCOMES}, "jobs": jobs}


REFUSED_JOB = {
    "id": JOB["id"],
    "outcome": "refused",
    "state": "running",
    "reason": "the job is running",
}
CHANGES = {
    "changed": 1,
    "requested": 0,
    "refused": 1,
    "absent": 0,
    "jobs": [{"id": JOB["id"], "outcome": "changed"}, REFUSED_JOB],
}
BULK_CHANGE_REQUESTS: dict[str, Example] = {
    "cancel": {"value": {"verb": "cancel", "ids": [JOB["id"]], "reason": "wrong text"}}
}
RETRY_REQUESTS: dict[str, Example] = {"one per second": {"value": {"queue": "mail", "per_minute": 60}}}
REPLAY_REQUESTS: dict[str, Example] = {
    "jobs of one kind": {"value": {"kind": "welcome", "older_than": "1.10", "window": "PT1H"}}
}
