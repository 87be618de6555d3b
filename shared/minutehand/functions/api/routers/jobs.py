"""List and read jobs, and change one job."""

from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Annotated, Any
from urllib.parse import urlencode
from uuid import UUID

from fastapi import Body, Query, Request

from minutehand.database import Database
from minutehand.errors import InvalidJobError, NotFoundError, UnfinishedError
from minutehand.functions.api.dependencies import Actor, Connected, JobId, create_router
from minutehand.functions.api.errors import REFUSED, ApiError
from minutehand.functions.api.openapi import COMMON, LINK, LOCATION, WITH_BODY, responds
from minutehand.functions.api.responses import Json
from minutehand.functions.api.schemas import jobs as schemas
from minutehand.functions.api.schemas.bulk import JobChange, change_fields
from minutehand.functions.api.schemas.common import Include
from minutehand.functions.api.schemas.jobs import (
    CancelRequest,
    EditRequest,
    JobFilter,
    ReplayRequest,
    RescheduleRequest,
)
from minutehand.functions.api.size import check_size, count_fitting
from minutehand.model.row import Page
from minutehand.operations import deletion
from minutehand.operations import jobs as operations
from minutehand.operations.change import Change
from minutehand.operations.edit import edit
from minutehand.queries import jobs as queries
from minutehand.queries.jobs import MAX_PAGE
from minutehand.queries.search import count_matching, is_set, search_jobs
from minutehand.queries.wait import wait_encrypted

# The gateway's time limit is 29 seconds, of which a cold start may take several.
WAIT_LIMIT = 20
WAIT = "seconds to wait until the job is finished"
# The filters that no index of the listing serves.
SEARCHED = ("key_prefix", "schedule", "batch", "error", "cause", "payload")
MOST_SHOWN = 10_000
DELETED = {"id": schemas.JOB["id"], "outcome": "changed"}
CHANGED = responds(200, "The changed job", schemas.Job, schemas.FULL_JOB, *WITH_BODY, 404, 409)
REPLAYED = responds(201, "The new job", schemas.Job, schemas.FULL_JOB, *WITH_BODY, 404, 409, headers=LOCATION)

router = create_router("jobs", prefix="/jobs")


@router.get("", **responds(200, "A page", schemas.JobPage, schemas.PAGE, *COMMON, headers=LINK))
def list_jobs(request: Request, filters: Annotated[JobFilter, Query()], database: Connected) -> Json:
    """List jobs, the newest first, without their payloads.

    Following `next` to the end returns each job that existed at the start exactly once, even if jobs are enqueued
    meanwhile. `previous` leads back.
    """
    page, jobs, searched = _page(database, filters)
    next_path = page.before and _path(request, filters, {"before": page.before})
    previous_path = page.after and _path(request, filters, {"after": page.after})
    links = [f'<{path}>; rel="{rel}"' for path, rel in ((next_path, "next"), (previous_path, "prev")) if path]
    content: dict[str, Any] = {
        "jobs": jobs,
        "before": page.before,
        "next": next_path,
        "after": page.after,
        "previous": previous_path,
        "total": page.total,
        "place": page.place,
        **searched,
        **(_counts(database, filters) if filters.count else {}),
    }
    return Json(content, headers={"Link": ", ".join(links)} if links else {})


@router.get("/{id}", **responds(200, "The job", schemas.Job, schemas.FULL_JOB, *COMMON, 404, 413))
def get_job(
    job_id: JobId,
    database: Connected,
    include: Annotated[Include | None, Query()] = None,
    wait: Annotated[float, Query(ge=0, le=WAIT_LIMIT, description=WAIT)] = 0,
) -> Json:
    """Read one job; payload, headers, result and trace only with `include=payload`.

    With `wait`, the answer comes as soon as the job is finished, or after this time with the job as it is.
    """
    with suppress(UnfinishedError):
        if wait:
            wait_encrypted(job_id, timedelta(seconds=wait), connection=database)
    return Json(check_size(schemas.full_job(queries.get(database, job_id), unmasked=include == "payload")))


@router.patch("/{id}", **CHANGED)
def edit_job(
    job_id: JobId,
    changes: Annotated[EditRequest, Body(openapi_examples=schemas.EDIT_REQUESTS)],
    database: Connected,
    actor: Actor,
) -> Json:
    """Change the payload or the options of a job that is not running and not finished."""
    return _changed(database, edit(database, [job_id], **changes.to_options(), actor=actor))


@router.delete(
    "/{id}",
    **responds(200, "The deleted job", JobChange, DELETED, *COMMON, 404, 409),
)
def delete_job(job_id: JobId, database: Connected, actor: Actor) -> Json:
    """Delete a job that is not running and not finished. To keep it in the history, cancel it instead."""
    return Json(change_fields(_check(deletion.delete(database, [job_id], actor=actor))))


@router.post("/{id}/cancel", **CHANGED)
def cancel_job(
    job_id: JobId,
    database: Connected,
    actor: Actor,
    options: Annotated[CancelRequest | None, Body(openapi_examples=schemas.CANCEL_REQUESTS)] = None,
) -> Json:
    """Cancel a job that is not finished; it stays in the history as cancelled.

    A running job is refused. With `running`, it is asked to stop at its next check, and stays running until then.
    """
    options = options or CancelRequest()
    changes = operations.cancel(database, [job_id], options.reason, running=options.running, actor=actor)
    return _changed(database, changes)


@router.post("/{id}/promote", **CHANGED)
def promote_job(job_id: JobId, database: Connected, actor: Actor) -> Json:
    """Make a job due now."""
    return _changed(database, operations.promote(database, [job_id], actor=actor))


@router.post("/{id}/reschedule", **CHANGED)
def reschedule_job(
    job_id: JobId,
    to: Annotated[RescheduleRequest, Body(openapi_examples=schemas.RESCHEDULE_REQUESTS)],
    database: Connected,
    actor: Actor,
) -> Json:
    """Move a job to another time: `run_at`, or `delay` from now."""
    return _changed(database, operations.reschedule(database, [job_id], to.run_at, to.delay, actor=actor))


@router.post("/{id}/retry", **CHANGED)
def retry_job(job_id: JobId, database: Connected, actor: Actor) -> Json:
    """Retry a dead, expired or cancelled job now, with all its attempts."""
    return _changed(database, operations.retry(database, [job_id], actor=actor))


@router.post("/{id}/replay", **REPLAYED)
def replay_job(
    job_id: JobId,
    database: Connected,
    actor: Actor,
    options: Annotated[ReplayRequest | None, Body(openapi_examples=schemas.REPLAY_REQUESTS)] = None,
) -> Json:
    """Run a finished job again as a new job: due now, with one attempt, and without its recurrence."""
    options = options or ReplayRequest()
    change = _check(operations.replay(database, [job_id], **vars(options), actor=actor))
    assert change.new is not None
    job = schemas.full_job(queries.get(database, change.new))
    return Json(job, 201, {"Location": f"/jobs/{change.new}"})


def _changed(database: Database, changes: list[Change]) -> Json:
    return Json(schemas.full_job(queries.get(database, _check(changes).id)))


def _check(changes: list[Change]) -> Change:
    """Return the change of one job; raise an error if it was not made."""
    (change,) = changes
    if change.outcome == "absent":
        raise NotFoundError(f"job {change.id} not found")
    if change.outcome == "refused":
        raise ApiError(REFUSED, change.reason, state=change.state)
    return change


def _page(database: Database, filters: JobFilter) -> tuple[Page, list[dict[str, Any]], dict[str, Any]]:
    """Return the page of jobs, the jobs as they are listed, and how far a search for it went."""
    search = filters.to_search()
    if filters.bounded or any(is_set(getattr(search, name)) for name in SEARCHED):
        if filters.after or _is_last(filters):
            raise InvalidJobError(
                "one_cursor", "after and page=last must not be combined with search filters; page with before"
            )
        found = search_jobs(
            database, search, before=filters.before, limit=min(max(filters.limit, 1), MAX_PAGE)
        )
        return *_fitting(Page(found.rows, found.before), False), {
            "read": found.read,
            "stopped": found.stopped,
        }
    options = {name: getattr(search, name) for name in vars(search) if name not in SEARCHED}
    cursors = {name: getattr(filters, name) for name in ("before", "after", "limit", "total")}
    page = queries.list_jobs(database, **options, **cursors, last=_is_last(filters))
    return *_fitting(page, bool(filters.after or _is_last(filters))), {}


def _counts(database: Database, filters: JobFilter) -> dict[str, Any]:
    counts = count_matching(database, filters.to_search())
    return {
        "count": min(counts.total, MOST_SHOWN),
        "count_more": not counts.complete or counts.total > MOST_SHOWN,
    }


def _is_last(filters: JobFilter) -> bool:
    return filters.page == "last" and filters.before is None and filters.after is None


def _fitting(page: Page, newer: bool) -> tuple[Page, list[dict[str, Any]]]:
    """Return a page without the jobs that do not fit into a response, and its jobs as they are listed.

    A page that was read towards the newer jobs loses the newest, so that `after` continues where it ends.
    """
    jobs = [schemas.listed_job(row) for row in page.rows]
    count = count_fitting(jobs[::-1] if newer else jobs)
    if count == len(jobs):
        return page, jobs
    if newer:
        place = None if page.place is None else page.place + len(jobs) - count
        return replace(page, rows=page.rows[-count:], after=page.rows[-count].id, place=place), jobs[-count:]
    return replace(page, rows=page.rows[:count], before=page.rows[count - 1].id), jobs[:count]


def _path(request: Request, filters: JobFilter, cursor: dict[str, UUID]) -> str:
    fields = filters.model_dump(exclude_unset=True, exclude={"before", "after", "page"}) | cursor
    query = {name: _parameter(value) for name, value in fields.items() if value is not None}
    return f"{request.url.path}?{urlencode(query, doseq=True)}"


def _parameter(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    return value.isoformat() if hasattr(value, "isoformat") else value
