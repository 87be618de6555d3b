"""List the attempts of a job, and the audit trail."""

from typing import Annotated

from fastapi import Query

from minutehand.functions.api.dependencies import Connected, JobId, create_router
from minutehand.functions.api.openapi import COMMON, responds
from minutehand.functions.api.responses import Json
from minutehand.functions.api.schemas import history as schemas
from minutehand.functions.api.schemas.common import Include
from minutehand.functions.api.schemas.history import AuditFilter
from minutehand.operations.audit import list_audit
from minutehand.queries import jobs as queries

ATTEMPTS = responds(200, "The attempts", schemas.Attempts, {"attempts": [schemas.ATTEMPT]}, *COMMON, 404)
AUDIT = responds(200, "A page", schemas.AuditPage, {"audit": [schemas.ENTRY], "before": None}, *COMMON)

router = create_router("history")


@router.get("/jobs/{id}/attempts", **ATTEMPTS)
def list_attempts(
    job_id: JobId, database: Connected, include: Annotated[Include | None, Query()] = None
) -> Json:
    """List the ended attempts of a job, even after the job was deleted; traces only with `include=payload`."""
    attempts = queries.list_attempts(database, job_id)
    # A job without attempts is not an error; a job that does not exist is.
    if not attempts:
        queries.get(database, job_id)
    unmasked = include == "payload"
    return Json({"attempts": [schemas.attempt_fields(each, unmasked=unmasked) for each in attempts]})


@router.get("/audit", **AUDIT)
def audit(filters: Annotated[AuditFilter, Query()], database: Connected) -> Json:
    """List the changes that people made, the newest first."""
    entries = list_audit(
        database,
        job=filters.job,
        who=filters.who,
        verb=filters.verb,
        before=filters.before,
        most=filters.limit,
    )
    before = entries[-1].id if len(entries) == filters.limit else None
    return Json({"audit": [vars(entry) for entry in entries], "before": before})
