"""Pause and limit the jobs of queues, kinds, keys, groups and tenants."""

from collections.abc import Sequence
from typing import Annotated, Any
from urllib.parse import quote, unquote

from fastapi import Body, Query

from minutehand.functions.api.dependencies import Actor, ConnectedToAll, create_router
from minutehand.functions.api.openapi import COMMON, WITH_BODY, responds
from minutehand.functions.api.responses import Json
from minutehand.functions.api.schemas import controls as schemas
from minutehand.functions.api.schemas.controls import (
    ControlFilter,
    HoldFilter,
    LimitRequest,
    LimitTarget,
    PauseRequest,
    PauseTarget,
    ShareFilter,
    ShareRequest,
    ShareTarget,
    UnblockRequest,
)
from minutehand.functions.api.size import count_fitting
from minutehand.operations.controls import limit, list_controls, list_holds, pause, resume, unblock, unlimit
from minutehand.operations.shares import list_shares, share, unshare

LISTED = responds(200, "The pauses and limits", schemas.Controls, schemas.CONTROLS, *COMMON)
HOLDS_LISTED = responds(200, "The groups that wait", schemas.Holds, schemas.HOLDS, *COMMON)
CHANGED = responds(200, "The pause or limit", schemas.Control, {**schemas.CONTROL, "busy": None}, *WITH_BODY)
SHARES_LISTED = responds(200, "The weights", schemas.Shares, schemas.SHARES, *COMMON)
SHARED = responds(200, "The weight", schemas.Share, schemas.SHARE, *WITH_BODY)
ENDED = responds(200, "Whether it existed", schemas.EndedControl, {"ended": True}, *WITH_BODY)

router = create_router("control", prefix="/controls")


@router.get("", **LISTED)
def get_controls(filters: Annotated[ControlFilter, Query()], database: ConnectedToAll) -> Json:
    """List pauses and limits, with the number of matching jobs that are offered or running; continue with `after`."""
    return _page(
        "controls", list_controls(database, limit=filters.limit, after=_place(filters.after)), filters.limit
    )


@router.get("/holds", **HOLDS_LISTED)
def get_holds(filters: Annotated[HoldFilter, Query()], database: ConnectedToAll) -> Json:
    """List groups that wait because of RetryAfter; `/controls/unblock` ends that."""
    return Json({"holds": [vars(each) for each in list_holds(database, limit=filters.limit)]})


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
    """Unblock a group that is blocked by a dead job or by `RetryAfter`; the job stays dead."""
    return Json(
        {"ended": unblock(database, request.group, queue=request.queue, tenant=request.tenant, actor=actor)}
    )


@router.get("/shares", **SHARES_LISTED)
def get_shares(filters: Annotated[ShareFilter, Query()], database: ConnectedToAll) -> Json:
    """List the weights of tenants that share queues; continue with `after`."""
    return _page(
        "shares", list_shares(database, limit=filters.limit, after=_place(filters.after)), filters.limit
    )


@router.post("/share", **SHARED)
def share_queue(
    request: Annotated[ShareRequest, Body(openapi_examples=schemas.SHARE_REQUESTS)],
    database: ConnectedToAll,
    actor: Actor,
) -> Json:
    """Set the weight of a tenant in a queue, or in all queues where it has no other."""
    return Json(
        vars(share(database, request.weight, tenant=request.tenant, queue=request.queue, actor=actor))
    )


@router.post("/unshare", **ENDED)
def unshare_queue(
    target: Annotated[ShareTarget, Body(openapi_examples=schemas.SHARE_TARGETS)],
    database: ConnectedToAll,
    actor: Actor,
) -> Json:
    """Remove the weight with the same names."""
    return Json({"ended": unshare(database, **vars(target), actor=actor)})


def _place(after: str | None) -> list[str] | None:
    return None if after is None else [unquote(part) for part in after.split("/")]


def _page(name: str, found: Sequence[Any], limit: int) -> Json:
    """Return as many of the values as fit, and the cursor of the next page."""
    count = count_fitting([vars(each) for each in found])
    more = count < len(found) or count == limit
    after = "/".join(quote(part, safe="") for part in found[count - 1].place) if more else None
    return Json({name: [vars(each) for each in found[:count]], "after": after})
