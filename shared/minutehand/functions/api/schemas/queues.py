"""Queues: their names, their keys, and dropping their jobs."""

from typing import Literal

from fastapi.openapi.models import Example
from pydantic import BaseModel, Field

from minutehand.functions.api.schemas.common import StrictModel


class KeyOptions(StrictModel):
    """Options of reading a job by its key."""

    include: Literal["payload"] | None = Field(None, description="include payload, headers, result and trace")
    tenant: str = Field("", description="the job's tenant, if there are tenants")


class DeleteQueueRequest(StrictModel):
    """The confirmation that a queue's jobs are to be deleted."""

    confirm: str = Field(description="the name of the queue")


class Queues(BaseModel):
    """Queues that have or had jobs, or that have options."""

    queues: list[str]


class DeletedJobs(BaseModel):
    """The number of deleted jobs."""

    deleted: int


DELETE_REQUESTS: dict[str, Example] = {"confirmed": {"value": {"confirm": "mail"}}}
