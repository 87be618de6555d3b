"""List queues, read a job by its key, and drop the jobs of a queue."""

from typing import Annotated

from fastapi import Body, Path, Query

from minutehand.functions.api.dependencies import Actor, Connected, ConnectedToAll, create_router
from minutehand.functions.api.openapi import COMMON, WITH_BODY, responds
from minutehand.functions.api.responses import Json
from minutehand.functions.api.schemas import queues as schemas
from minutehand.functions.api.schemas.jobs import FULL_JOB, Job, full_job
from minutehand.functions.api.schemas.queues import DropRequest, KeyOptions
from minutehand.operations.drop import drop_all
from minutehand.queries import jobs as queries

DROPPED = responds(200, "The number of deleted jobs", schemas.DroppedJobs, {"dropped": 12}, *WITH_BODY)
QUEUES = responds(200, "Their names", schemas.Queues, {"queues": ["default", "mail"]}, *COMMON)

router = create_router("queues", prefix="/queues")


@router.get("", **QUEUES)
def list_queues(database: Connected) -> Json:
    """List the queues that have or had jobs, or that have options."""
    return Json({"queues": queries.list_queues(database)})


@router.get("/{queue}/keys/{key:path}", **responds(200, "The job", Job, FULL_JOB, *COMMON, 404))
def get_by_key(
    queue: Annotated[str, Path()],
    key: Annotated[str, Path()],
    options: Annotated[KeyOptions, Query()],
    database: Connected,
) -> Json:
    """Read a job by its key: the upcoming job, otherwise the running one, otherwise the one that finished last."""
    row = queries.get_by_key(database, queue, key, tenant=options.tenant)
    return Json(full_job(row, unmasked=options.include == "payload"))


@router.post("/{queue}/drop", **DROPPED)
def drop_jobs(
    queue: Annotated[str, Path(description="the queue's name", max_length=100)],
    request: Annotated[DropRequest, Body(openapi_examples=schemas.DROP_REQUESTS)],
    database: ConnectedToAll,
    actor: Actor,
) -> Json:
    """Delete all jobs of a queue that are not running and not finished. This cannot be undone."""
    return Json({"dropped": sum(drop_all(database, queue, request.confirm, who=actor))})
