"""Pause and limit the jobs of queues, kinds, keys, groups and tenants."""

from typing import Annotated
from urllib.parse import quote, unquote

from fastapi import Body, Query

from minutehand.functions.api.dependencies import Actor, ConnectedToAll, create_router
from minutehand.functions.api.openapi import COMMON, WITH_BODY, responds
from minutehand.functions.api.responses import Json
from minutehand.functions.api.schemas import controls as schemas
from minutehand.functions.api.schemas.controls import (
    ControlFilter,
    LimitRequest,
    LimitTarget,
    PauseRequest,
    PauseTarget,
    UnblockRequest,
)
from minutehand.functions.api.size import count_fitting
from minutehand.operations.controls import limit, list_controls, pause, resume, unblock, unlimit

LISTED = responds(200, "The pauses and limits", schemas.Controls, schemas.CONTROLS, *COMMON)
CHANGED = responds(200, "The pause or limit", schemas.Control, {**schemas.CONTROL, "busy": None}, *WITH_BODY)
ENDED = responds(200, "Whether it existed", schemas.EndedControl, {"ended": True}, *WITH_BODY)

router = create_router("control", prefix="/controls")


@router.get("", **LISTED)
def get_controls(filters: Annotated[ControlFilter, Query()], database: ConnectedToAll) -> Json:
    """List pauses and limits, with the number of matching jobs that are offered or running; continue with `after`."""
    place = None if filters.after is None else [unquote(part) for part in filters.after.split("/")]
    found = list_controls(database, limit=filters.limit, after=place)
    count = count_fitting([vars(each) for each in found])
    more = count < len(found) or count == filters.limit
    after = "/".join(quote(name, safe="") for name in found[count - 1].place) if more else None
    return Json({"controls": [vars(each) for each in found[:count]], "after": after})


@router.post("/pause", **CHANGED)
def pause_jobs(
    request: Annotated[PauseRequest, Body(openapi_examples=schemas.PAUSE_REQUESTS)],
    database: ConnectedToAll,
    actor: Actor,
) -> Json:
    """Stop offering jobs of a queue, a kind, a key, a group or a tenant, or all jobs; running jobs continue."""
    return Json(vars(pause(database, **vars(request), actor=actor)))


@router.post("/resume", **ENDED)
def resume_jobs(
    target: Annotated[PauseTarget, Body(openapi_examples=schemas.TARGETS)],
    database: ConnectedToAll,
    actor: Actor,
) -> Json:
    """End the pause with the same names."""
    return Json({"ended": resume(database, **vars(target), actor=actor)})


@router.post("/limit", **CHANGED)
def limit_jobs(
    request: Annotated[LimitRequest, Body(openapi_examples=schemas.LIMIT_REQUESTS)],
    database: ConnectedToAll,
    actor: Actor,
) -> Json:
    """Limit how many jobs may be offered or running at once, how many may start in a period, and in which order."""
    return Json(vars(limit(database, **vars(request), actor=actor)))


@router.post("/unlimit", **ENDED)
def unlimit_jobs(
    target: Annotated[LimitTarget, Body(openapi_examples=schemas.TARGETS)],
    database: ConnectedToAll,
    actor: Actor,
) -> Json:
    """End the limit with the same names."""
    return Json({"ended": unlimit(database, **vars(target), actor=actor)})


@router.post("/unblock", **ENDED)
def unblock_group(
    request: Annotated[UnblockRequest, Body(openapi_examples=schemas.UNBLOCK_REQUESTS)],
    database: ConnectedToAll,
    actor: Actor,
) -> Json:
    """Let an ordered group continue that a dead job blocks; the job stays dead."""
    return Json(
        {"ended": unblock(database, request.group, queue=request.queue, tenant=request.tenant, actor=actor)}
    )
