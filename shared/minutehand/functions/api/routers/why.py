"""Explain why a job, or the earliest job of a queue, has not finished."""

from typing import Annotated

from fastapi import Path, Query

from minutehand.functions.api.dependencies import Connected, JobId, create_router
from minutehand.functions.api.openapi import COMMON, responds
from minutehand.functions.api.responses import Json
from minutehand.functions.api.schemas import why as schemas
from minutehand.functions.api.schemas.why import WhyOptions
from minutehand.model.zones import zone_of
from minutehand.queries.why import why, why_queue

EXPLAINED = responds(200, "The reason", schemas.Answer, schemas.ANSWER, *COMMON, 404)

router = create_router("jobs")


@router.get("/jobs/{id}/why", **EXPLAINED)
def explain_job(job_id: JobId, options: Annotated[WhyOptions, Query()], database: Connected) -> Json:
    """Explain why a job has not finished, in one sentence with the evidence and the next step."""
    return Json(vars(why(database, job_id, zone=zone_of(options.zone))))


@router.get("/queues/{queue}/why", **EXPLAINED)
def explain_queue(
    queue: Annotated[str, Path(max_length=100)], options: Annotated[WhyOptions, Query()], database: Connected
) -> Json:
    """Explain why the longest-overdue job of a queue has not finished."""
    return Json(vars(why_queue(database, queue, zone=zone_of(options.zone))))
