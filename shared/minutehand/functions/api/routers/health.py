"""Check that the API can reach its database."""

from fastapi import APIRouter, Request

from minutehand.functions.api.dependencies import Connected
from minutehand.functions.api.openapi import responds
from minutehand.functions.api.responses import Json
from minutehand.functions.api.schemas.health import Health

router = APIRouter(tags=["health"])


EXAMPLE = {"status": "ok", "database": "ok"}


@router.get("/health", **responds(200, "The API is available", Health, EXAMPLE, 403, 500, 503))
def check_health(request: Request, database: Connected) -> Json:
    """Check that the API works, and for a caller with a token that the database has its schema.

    Without a token the database is not used: strangers must not take its connections.
    """
    if not request.state.authenticated:
        return Json({"status": "ok", "database": "unchecked"})
    database.run("get_states", ids=[])
    return Json({"status": "ok", "database": "ok"})
