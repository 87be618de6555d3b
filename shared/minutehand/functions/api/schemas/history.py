"""History: the attempts of a job, and the audit trail."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, Field

from minutehand.functions.api.schemas.common import Include, StrictModel, Time
from minutehand.functions.api.schemas.jobs import JOB, JobError
from minutehand.model import row
from minutehand.queries import offers


class AuditFilter(StrictModel):
    """The entries to list."""

    job: UUID | None = Field(None, description="changes to this job")
    actor: str | None = Field(None, description="changes by this actor")
    verb: str | None = Field(None, description="cancel, pause, edit ...")
    before: UUID | None = Field(None, description="the next page: the last entry of this page")
    limit: Annotated[int, Field(ge=1, le=1000)] = 50


class AttemptFilter(StrictModel):
    """The attempts to list."""

    include: Include | None = Field(None, description="include traces and partial results")
    after: Time = Field(None, description="the next page: the cursor `after` of this page")
    limit: Annotated[int, Field(ge=1, le=1000)] = 1000


class Attempt(BaseModel):
    """An attempt that has ended."""

    job: UUID
    attempt: int
    started: datetime
    ended: datetime
    outcome: str = Field(
        description="done, retrying, dead, snoozed ..., or lapsed if its worker did not finish it"
    )
    worker: str | None = Field(description="the function or process that claimed the job")
    request: str | None = Field(description="Lambda's request id")
    version: str | None = Field(description="the version of the code")
    memory_mb: int | None
    error: JobError | None
    result: Any = Field(None, description="the partial result of a failed attempt, only with include=payload")


class Unclaimed(BaseModel):
    """An offer that no worker claimed."""

    offered: datetime
    ended: datetime
    outcome: Literal["lapsed", "refused", "recalled"] = Field(
        description="how it ended: no worker claimed it in time, Lambda refused to invoke a worker, "
        "or a pause took it back"
    )


class UnclaimedOffers(BaseModel):
    """The offers of a job that no worker claimed; forgotten a week after the last one."""

    count: int
    latest: list[Unclaimed] = Field(description="the latest ones, at most 20, oldest first")


class Attempts(BaseModel):
    """The finished attempts at a job, oldest first."""

    attempts: list[Attempt]
    after: datetime | None = Field(description="the cursor of the next page, if there may be one")
    unclaimed: UnclaimedOffers


class AuditEntry(BaseModel):
    """A change that a person made."""

    id: UUID
    at: datetime
    tenant: str
    actor: str = Field(description="the actor")
    verb: str
    job: UUID | None
    facts: dict[str, Any]


class AuditPage(BaseModel):
    """A page of the audit trail, the newest entry first."""

    audit: list[AuditEntry]
    before: UUID | None = Field(description="the cursor of the next page, if there may be one")


def attempt_fields(attempt: row.Attempt, *, unmasked: bool) -> dict[str, Any]:
    """Return an attempt; its trace and result only if unmasked."""
    error = attempt.error if unmasked else row.without_trace(attempt.error)
    return vars(attempt) | {"error": error, "result": attempt.result if unmasked else None}


def unclaimed_fields(unclaimed: offers.UnclaimedOffers) -> dict[str, Any]:
    """Return the offers that no worker claimed."""
    return {"count": unclaimed.count, "latest": [vars(each) for each in unclaimed.latest]}


ATTEMPT = {
    "job": JOB["id"],
    "attempt": 1,
    "started": "2026-01-31T07:00:04+00:00",
    "ended": "2026-01-31T07:00:05+00:00",
    "outcome": "retrying",
    "worker": "minutehand-worker",
    "request": "8f5a1c9e",
    "version": "42",
    "memory_mb": 512,
    "error": {"type": "TimeoutError", "message": "the mail server did not answer"},
}
UNCLAIMED = {
    "offered": "2026-01-31T07:00:00+00:00",
    "ended": "2026-01-31T07:00:02+00:00",
    "outcome": "refused",
}
ATTEMPTS = {"attempts": [ATTEMPT], "after": None, "unclaimed": {"count": 1, "latest": [UNCLAIMED]}}
ENTRY = {
    "id": JOB["id"],
    "at": JOB["enqueued"],
    "tenant": "",
    "actor": "ada",
    "verb": "cancel",
    "job": JOB["id"],
    "facts": {"reason": "the order was withdrawn"},
}
