"""List the attempts of a job, and the audit trail."""

from typing import Annotated

from fastapi import Query

from minutehand.functions.api.dependencies import Connected, JobId, create_router
from minutehand.functions.api.openapi import COMMON, responds
from minutehand.functions.api.responses import Json
from minutehand.functions.api.schemas import history as schemas
from minutehand.functions.api.schemas.history import AttemptFilter, AuditFilter
from minutehand.functions.api.size import check_size, count_fitting
from minutehand.operations.audit import list_audit
from minutehand.queries import jobs as queries
from minutehand.queries.offers import unclaimed_offers

ATTEMPTS = responds(200, "The attempts", schemas.Attempts, schemas.ATTEMPTS, *COMMON, 404, 413)
AUDIT = responds(200, "A page", schemas.AuditPage, {"audit": [schemas.ENTRY], "before": None}, *COMMON)

router = create_router("history")


@router.get("/jobs/{id}/attempts", **ATTEMPTS)
def list_attempts(job_id: JobId, filters: Annotated[AttemptFilter, Query()], database: Connected) -> Json:
    """List the ended attempts of a job, even after the job was deleted; traces only with `include=payload`.

    `unclaimed` are the offers that no worker claimed.
    """
    found = queries.list_attempts(database, job_id, after=filters.after, limit=filters.limit)
    # A job without attempts is not an error; a job that does not exist is.
    if not found and filters.after is None:
        queries.get(database, job_id)
    attempts = [schemas.attempt_fields(each, unmasked=filters.include == "payload") for each in found]
    count = count_fitting(attempts)
    after = attempts[count - 1]["ended"] if count < len(attempts) or count == filters.limit else None
    unclaimed = schemas.unclaimed_fields(unclaimed_offers(database, job_id))
    return Json(check_size({"attempts": attempts[:count], "after": after, "unclaimed": unclaimed}))


@router.get("/audit", **AUDIT)
def audit(filters: Annotated[AuditFilter, Query()], database: Connected) -> Json:
    """List the changes that people made, the newest first."""
    entries = list_audit(
        database,
        job=filters.job,
        actor=filters.actor,
        verb=filters.verb,
        before=filters.before,
        limit=filters.limit,
    )
    count = count_fitting([vars(entry) for entry in entries])
    before = entries[count - 1].id if count < len(entries) or count == filters.limit else None
    return Json({"audit": [vars(entry) for entry in entries[:count]], "before": before})
