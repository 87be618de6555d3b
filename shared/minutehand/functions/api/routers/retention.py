"""Read and set how long finished jobs, attempts and events are stored."""

from typing import Annotated

from fastapi import Body

from minutehand.database import Database
from minutehand.functions.api.dependencies import Actor, ConnectedToAll, create_router
from minutehand.functions.api.openapi import COMMON, WITH_BODY, responds
from minutehand.functions.api.responses import Json
from minutehand.functions.api.schemas import retention as schemas
from minutehand.functions.api.schemas.retention import RetentionRequest
from minutehand.functions.api.size import check_size
from minutehand.operations import retention as operations

router = create_router("history", prefix="/retention")


@router.get("", **responds(200, "The settings", schemas.Retentions, schemas.RETENTIONS, *COMMON, 413))
def get_retention(database: ConnectedToAll) -> Json:
    """Read how long finished jobs, attempts and events are stored."""
    return _settings(database)


@router.put("", **responds(200, "The new settings", schemas.Retentions, schemas.RETENTIONS, *WITH_BODY))
def set_retention(
    request: Annotated[RetentionRequest, Body(openapi_examples=schemas.RETENTION_REQUESTS)],
    database: ConnectedToAll,
    actor: Actor,
) -> Json:
    """Replace the retention of a queue; omitted fields are reset. The dispatcher deletes what has expired."""
    operations.set_retention(database, request.to_retention(), actor=actor)
    if request.keep_until_archived is not None:
        operations.set_keep_until_archived(database, request.keep_until_archived, actor=actor)
    return _settings(database)


def _settings(database: Database) -> Json:
    settings = [
        {name: "forever" if value == operations.FOREVER else value for name, value in vars(each).items()}
        for each in operations.list_retention(database)
    ]
    archived = operations.get_keep_until_archived(database)
    content = {"retention": settings, "keep_until_archived": archived}
    return Json(check_size(content, "read it with `minutehand retention`"))
