"""What needs attention now, and who asks."""

from typing import Annotated

from fastapi import Query, Request

from minutehand import __version__
from minutehand.aws.role import known_region
from minutehand.functions.api.dependencies import Actor, Connected, create_router
from minutehand.functions.api.openapi import COMMON, responds
from minutehand.functions.api.responses import Json
from minutehand.functions.api.schemas import attention as schemas
from minutehand.functions.api.schemas.attention import HistoryFilter, history_fields
from minutehand.queries.access import may_change
from minutehand.queries.attention import attention
from minutehand.queries.history import read_history
from minutehand.queries.jobs import clock
from minutehand.settings import is_local

router = create_router("console")


@router.get("/me", **responds(200, "The caller", schemas.Me, schemas.ME, *COMMON))
def me(request: Request, database: Connected, actor: Actor) -> Json:
    """Return the caller's name, tenant and role, and the time of the database.

    Every caller is a reader if the API's login is one, a member of minutehand_reader.
    """
    return Json(
        {
            "actor": actor,
            "tenant": request.state.tenant,
            "role": "operator" if not request.state.reader and may_change(database) else "reader",
            "local": is_local(),
            "region": known_region(),
            "version": __version__,
            "now": clock(database),
        }
    )


@router.get("/attention", **responds(200, "The items", schemas.Attention, schemas.ATTENTION, *COMMON))
def get_attention(database: Connected) -> Json:
    """List what needs attention, the worst first: late and failing jobs, pauses, limits, and a silent dispatcher.

    The cost does not depend on the number of jobs. What concerns all tenants is left out for a tenant.
    """
    found = attention(database)
    return Json({"now": found.now, "items": [vars(each) for each in found.items]})


@router.get("/stats/history", **responds(200, "The history", schemas.History, schemas.HISTORY, *COMMON))
def get_history(filters: Annotated[HistoryFilter, Query()], database: Connected) -> Json:
    """Return what was enqueued and finished in the last hour, day or week, and how long jobs waited and ran.

    It reads figures that ticks have counted, not the jobs. For a tenant it reads its latest 20,000 jobs.
    """
    return Json(history_fields(read_history(database, filters.window, queue=filters.queue)))
