"""Batches: their callbacks, their state, and the counts of their jobs."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi.openapi.models import Example
from pydantic import BaseModel, Field, StrictBool, StrictInt

from minutehand.functions.api.schemas.common import StrictModel
from minutehand.functions.api.schemas.jobs import JOB
from minutehand.functions.api.schemas.on_dead import OnDead
from minutehand.model.new_job import NewJob
from minutehand.queries.batches import MAX_PAGE, BatchRow


class OpenBatchRequest(StrictModel):
    """A batch to open. Add jobs with their option `batch`, then close it."""

    on_complete: str | OnDead | None = Field(
        None, description="a kind or a job, enqueued when the last job has ended"
    )
    on_failure: str | OnDead | None = Field(
        None, description="enqueued instead, if a job is dead, expired or cancelled"
    )
    name: str | None = Field(None, max_length=200, description="its name, for people")
    tenant: str | None = Field(None, description="its tenant, if there are tenants")
    parent: UUID | None = Field(None, description="the batch of which it counts as one job")

    def callbacks(self) -> dict[str, NewJob | str | None]:
        """Return the callbacks as the library's jobs."""
        given = {"on_complete": self.on_complete, "on_failure": self.on_failure}
        return {name: job.to_job() if isinstance(job, OnDead) else job for name, job in given.items()}


class BatchFilter(StrictModel):
    """A page of batches."""

    limit: int = Field(50, ge=1, le=MAX_PAGE, description="the maximum number of batches")
    before: UUID | None = Field(None, description="the next page: the cursor `before` of this page")
    parent: UUID | None = Field(None, description="only the batches that are nested in this one")


class CancelBatchRequest(StrictModel):
    """Why the jobs of a batch are cancelled, and which."""

    reason: Annotated[str, Field(max_length=1000)] = Field("on request", description="the reason")
    running: StrictBool = Field(False, description="request running jobs to stop at their next check")
    limit: Annotated[StrictInt, Field(ge=1, le=1000)] = Field(
        1000, description="the maximum number of jobs; repeat the request for more"
    )


class RetryBatchRequest(StrictModel):
    """How many jobs of a batch are retried."""

    limit: Annotated[StrictInt, Field(ge=1, le=1000)] = Field(
        1000, description="the maximum number of jobs; repeat the request for more"
    )


class BatchState(BaseModel):
    """A batch, the kinds of its callbacks and their jobs, and the counts of its jobs."""

    id: UUID
    parent: UUID | None = Field(description="the batch that it is nested in")
    nested: int = Field(description="the number of batches that are nested in it, up to 100")
    tenant: str
    name: str | None
    state: Literal["open", "closed", "ended"] = Field(description="ended: none of its jobs is left")
    created: datetime
    closed: datetime | None
    ended: datetime | None
    on_complete: str | None
    on_failure: str | None
    complete_job: UUID | None
    failure_job: UUID | None
    error: str | None = Field(description="why a callback was not enqueued")
    total: int
    open: int
    done: int
    dead: int
    expired: int
    cancelled: int


class BatchStates(BaseModel):
    """A page of batches, the latest first."""

    batches: list[BatchState]
    before: UUID | None = Field(description="the cursor of the next page, if there is one")


class OpenedBatch(BaseModel):
    """The id of a new batch."""

    id: UUID


class ClosedBatch(BaseModel):
    """Whether the batch was open."""

    closed: bool


def batch_fields(row: BatchRow) -> dict[str, Any]:
    """Return the fields of a batch."""
    return vars(row) | {"state": row.state}


BATCH: dict[str, Any] = {
    **{
        "id": JOB["id"],
        "parent": None,
        "nested": 0,
        "tenant": "",
        "name": "invoices of May",
        "state": "closed",
        "created": JOB["enqueued"],
    },
    **{"closed": JOB["enqueued"], "ended": None, "on_complete": "report", "on_failure": None},
    **{"complete_job": None, "failure_job": None, "error": None},
    **{"total": 200, "open": 12, "done": 187, "dead": 1, "expired": 0, "cancelled": 0},
}
OPEN_REQUESTS: dict[str, Example] = {
    "with callbacks": {"value": {"on_complete": "report", "on_failure": {"kind": "alert", "queue": "ops"}}}
}
CANCEL_REQUESTS: dict[str, Example] = {"with a reason": {"value": {"reason": "wrong month"}}}
RETRY_REQUESTS: dict[str, Example] = {"all": {"value": {}}}
