"""Make one change to many jobs, selected by id or by filters."""

from collections.abc import Callable
from datetime import timedelta
from typing import Annotated

from fastapi import Body

from minutehand.database import Database
from minutehand.functions.api.dependencies import Actor, Connected, create_router
from minutehand.functions.api.openapi import WITH_BODY, responds
from minutehand.functions.api.responses import Json
from minutehand.functions.api.schemas import bulk as schemas
from minutehand.functions.api.schemas.bulk import (
    BulkChangeRequest,
    ReplayRequest,
    RetryRequest,
    changes_fields,
)
from minutehand.operations import deletion
from minutehand.operations import jobs as operations
from minutehand.operations.again import replay_finished, retry_at_rate
from minutehand.operations.change import Change

CHANGED = responds(200, "The outcome of each job", schemas.JobChanges, schemas.CHANGES, *WITH_BODY)
PLAIN_VERBS: dict[str, Callable[..., list[Change]]] = {
    "promote": operations.promote,
    "retry": operations.retry,
    "replay": operations.replay,
    "delete": deletion.delete,
}

router = create_router("control", prefix="/jobs")


@router.post("/change", **CHANGED)
def change_jobs(
    request: Annotated[BulkChangeRequest, Body(openapi_examples=schemas.BULK_CHANGE_REQUESTS)],
    database: Connected,
    actor: Actor,
) -> Json:
    """Make the same change to up to 1000 jobs. A refused job does not affect the others."""
    return Json(changes_fields(_change(request, database, actor)))


@router.post("/retry", **CHANGED)
def retry_dead_jobs(
    request: Annotated[RetryRequest, Body(openapi_examples=schemas.RETRY_REQUESTS)],
    database: Connected,
    actor: Actor,
) -> Json:
    """Retry dead jobs at a rate, with all their attempts; at most `limit` jobs."""
    return Json(changes_fields(retry_at_rate(database, **vars(request), actor=actor)))


@router.post("/replay", **CHANGED)
def replay_finished_jobs(
    request: Annotated[ReplayRequest, Body(openapi_examples=schemas.REPLAY_REQUESTS)],
    database: Connected,
    actor: Actor,
) -> Json:
    """Replay finished jobs, such as those of an older version of the code, spread over a window; at most `limit` jobs.

    Repeat the request for more: a job is replayed only once for the same version.
    """
    filters = {name: value for name, value in vars(request).items() if name not in ("state", "window")}
    window = request.window or timedelta()
    changes = replay_finished(database, **filters, states=request.state, window=window, actor=actor)
    return Json(changes_fields(changes))


def _change(request: BulkChangeRequest, database: Database, actor: str | None) -> list[Change]:
    match request.verb:
        case "cancel":
            return operations.cancel(
                database, request.ids, request.reason, running=request.running, actor=actor
            )
        case "reschedule":
            return operations.reschedule(database, request.ids, request.run_at, request.delay, actor=actor)
        case verb:
            return PLAIN_VERBS[verb](database, request.ids, actor=actor)
