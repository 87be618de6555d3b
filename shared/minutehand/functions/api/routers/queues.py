"""List queues, read a job by its key, and drop the jobs of a queue."""

from typing import Annotated

from fastapi import Body, Path, Query

from minutehand.errors import InvalidJobError
from minutehand.functions.api.dependencies import Actor, Connected, ConnectedToAll, create_router
from minutehand.functions.api.openapi import COMMON, WITH_BODY, responds
from minutehand.functions.api.responses import Json
from minutehand.functions.api.schemas import queues as schemas
from minutehand.functions.api.schemas.jobs import FULL_JOB, Job, full_job
from minutehand.functions.api.schemas.queues import DeleteQueueRequest, KeyOptions, QueueFilter
from minutehand.functions.api.size import check_size
from minutehand.operations.deletion import delete_upcoming
from minutehand.queries import jobs as queries

DELETED = responds(200, "The number of deleted jobs", schemas.DeletedJobs, {"deleted": 12}, *WITH_BODY)
QUEUES = responds(200, "Their names", schemas.Queues, {"queues": ["default", "mail"], "after": None}, *COMMON)

router = create_router("queues", prefix="/queues")


@router.get("", **QUEUES)
def list_queues(filters: Annotated[QueueFilter, Query()], database: Connected) -> Json:
    """List the queues that have or had jobs, or that have options; continue with `after`."""
    found = queries.list_queues(database, limit=filters.limit, after=filters.after)
    return Json({"queues": found, "after": found[-1] if len(found) == filters.limit else None})


@router.get("/{queue}/keys/{key:path}", **responds(200, "The job", Job, FULL_JOB, *COMMON, 404, 413))
def get_by_key(
    queue: Annotated[str, Path()],
    key: Annotated[str, Path()],
    options: Annotated[KeyOptions, Query()],
    database: Connected,
) -> Json:
    """Read a job by its key: the upcoming job, otherwise the running one, otherwise the one that finished last."""
    row = queries.get_by_key(database, queue, key, tenant=options.tenant)
    return Json(check_size(full_job(row, unmasked=options.include == "payload")))


@router.post("/{queue}/delete", **DELETED)
def delete_upcoming_jobs(
    queue: Annotated[str, Path(description="the queue's name", max_length=100)],
    request: Annotated[DeleteQueueRequest, Body(openapi_examples=schemas.DELETE_REQUESTS)],
    database: ConnectedToAll,
    actor: Actor,
) -> Json:
    """Delete all jobs of a queue that are not running and not finished. This cannot be undone."""
    if request.confirm != queue:
        raise InvalidJobError("deletion_is_confirmed", f"confirm must be {queue!r}, the name of the queue")
    return Json({"deleted": sum(delete_upcoming(database, queue, actor=actor))})
