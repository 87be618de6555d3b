"""Queues: their names, their keys, and dropping their jobs."""

from typing import Literal

from fastapi.openapi.models import Example
from pydantic import BaseModel, Field

from minutehand.functions.api.schemas.common import StrictModel
from minutehand.queries.jobs import MAX_PAGE


class KeyOptions(StrictModel):
    """Options of reading a job by its key."""

    include: Literal["payload"] | None = Field(None, description="include payload, headers, result and trace")
    tenant: str = Field("", description="the job's tenant, if there are tenants")


class DeleteQueueRequest(StrictModel):
    """The confirmation that a queue's jobs are to be deleted."""

    confirm: str = Field(description="the name of the queue")


class QueueFilter(StrictModel):
    """The queues to list."""

    limit: int = Field(MAX_PAGE, ge=1, le=MAX_PAGE, description="the maximum number of queues")
    after: str | None = Field(
        None, max_length=100, description="the next page: the cursor `after` of this page"
    )


class Queues(BaseModel):
    """Queues that have or had jobs, or that have options, sorted by name."""

    queues: list[str]
    after: str | None = Field(description="the cursor of the next page, if there is one")


class DeletedJobs(BaseModel):
    """The number of deleted jobs."""

    deleted: int


DELETE_REQUESTS: dict[str, Example] = {"confirmed": {"value": {"confirm": "mail"}}}
