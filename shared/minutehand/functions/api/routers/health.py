"""Check that the API can reach its database."""

from fastapi import APIRouter

from minutehand.functions.api.dependencies import Connected
from minutehand.functions.api.openapi import responds
from minutehand.functions.api.responses import Json
from minutehand.functions.api.schemas.health import Health

router = APIRouter(tags=["health"])


@router.get("/health", **responds(200, "The database is available", Health, {"status": "ok"}, 403, 500, 503))
def check_health(database: Connected) -> Json:
    """Check that the database can be reached and has its schema. Needs no token."""
    database.run("states", ids=[])
    return Json({"status": "ok"})
