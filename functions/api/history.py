"""History: jobs as they stand, page by page, with their attempts, and how long what is finished is kept."""

from contextlib import suppress
from dataclasses import fields
from datetime import timedelta
from typing import Annotated, Any
from urllib.parse import urlencode
from uuid import UUID

from fastapi import APIRouter, Body, Path, Query, Request, Security

import shapes
from answers import Json, tell_job, tell_row
from asked import KeyOf, Retention
from body import StrictRoute
from connections import Connected, ConnectedToAll, Who
from minutehand import Database
from minutehand.errors import UnfinishedError
from minutehand.model.row import Attempt
from minutehand.operations import retention as kept
from minutehand.queries import jobs as read
from minutehand.queries.wait import wait as wait_for
from models import Filters, Include
from openapi import GET, LIST
from routes import JobId, bearer

MOST_WAITED = 20  # seconds; the gateway gives up after 29, of which a cold start may take some
PATIENCE = "seconds to wait for the job's end"

history = APIRouter(route_class=StrictRoute, dependencies=[Security(bearer)])


@history.get("/jobs", tags=["jobs"], **LIST)
def list_jobs(request: Request, filters: Annotated[Filters, Query()], database: Connected) -> Json:
    """List jobs, the last enqueued first, without what they carry.

    Follow `next` to the end, and each job that was there at the beginning is seen once, whatever is enqueued meanwhile;
    `previous` leads back.
    """
    asked = vars(filters) | {"states": filters.state, "last": _is_last(filters)}
    page = read.list_jobs(database, **{name: asked[name] for name in asked.keys() - {"state", "page"}})
    following = page.before and _path(request, filters, {"before": page.before})
    previous = page.after and _path(request, filters, {"after": page.after})
    links = [f'<{path}>; rel="{rel}"' for path, rel in ((following, "next"), (previous, "prev")) if path]
    told: dict[str, Any] = {
        "jobs": [tell_row(row) for row in page.rows],
        "before": page.before,
        "next": following,
    }
    told |= {"after": page.after, "previous": previous, "total": page.total, "place": page.place}
    return Json(told, headers={"Link": ", ".join(links)} if links else {})


@history.get("/jobs/{id}", tags=["jobs"], **GET)
def get_job(
    job_id: JobId, database: Connected, include: Annotated[Include | None, Query()] = None,
    wait: Annotated[float, Query(ge=0, le=MOST_WAITED, description=PATIENCE)] = 0,
) -> Json:  # fmt: skip
    """Read one job; its payload, headers, result and trace only with `include=payload`.

    With `wait`, the answer comes as soon as the job is finished, or after that time as it then stands.
    """
    with suppress(UnfinishedError):
        if wait:
            wait_for(job_id, timedelta(seconds=wait), connection=database)
    return Json(tell_job(read.get(database, job_id), unmasked=include == "payload"))


@history.get("/jobs/{id}/attempts", tags=["jobs"], **shapes.ATTEMPTS)
def list_attempts(
    job_id: JobId, database: Connected, include: Annotated[Include | None, Query()] = None
) -> Json:
    """List every attempt at a job that has ended, also of one that is kept no longer; traces with `include=payload`."""
    attempts = read.list_attempts(database, job_id)
    if not attempts:
        read.get(database, job_id)
    return Json({"attempts": [_tell_attempt(attempt, unmasked=include == "payload") for attempt in attempts]})


@history.get("/queues", tags=["queues"], **shapes.QUEUES)
def list_queues(database: Connected) -> Json:
    """List the queues that have or had jobs, or of which something is set."""
    return Json({"queues": read.list_queues(database)})


@history.get("/queues/{queue}/keys/{key:path}", tags=["queues"], **GET)
def get_by_key(
    queue: Annotated[str, Path()],
    key: Annotated[str, Path()],
    asked: Annotated[KeyOf, Query()],
    database: Connected,
) -> Json:
    """Read the job that a key names: the upcoming one, else the one that runs, else the last that was finished."""
    row = read.get_by_key(database, queue, key, tenant=asked.tenant)
    return Json(tell_job(row, unmasked=asked.include == "payload"))


@history.get("/retention", tags=["history"], **shapes.KEPT)
def get_retention(database: ConnectedToAll) -> Json:
    """Tell how long finished jobs, attempts and events are kept."""
    return _tell_retention(database)


@history.put("/retention", tags=["history"], **shapes.KEEP)
def set_retention(
    said: Annotated[Retention, Body(openapi_examples=shapes.RETENTION)], database: ConnectedToAll, who: Who
) -> Json:
    """Say all of a queue's retention at once; what is left out is forgotten. The dispatcher drops what is over."""
    kept.set_retention(
        database, kept.Retention(**{f.name: getattr(said, f.name) for f in fields(kept.Retention)}), actor=who
    )
    if said.keep_until_archived is not None:
        kept.set_keep_until_archived(database, said.keep_until_archived, actor=who)
    return _tell_retention(database)


def _is_last(filters: Filters) -> bool:
    return filters.page == "last" and filters.before is None and filters.after is None


def _path(request: Request, filters: Filters, cursor: dict[str, UUID]) -> str:
    asked = filters.model_dump(exclude_unset=True, exclude={"before", "after", "page"}) | cursor
    told = {name: _parameter(value) for name, value in asked.items() if value is not None}
    return f"{request.url.path}?{urlencode(told, doseq=True)}"


def _parameter(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    return value.isoformat() if hasattr(value, "isoformat") else value


def _tell_attempt(attempt: Attempt, *, unmasked: bool) -> dict[str, Any]:
    error = attempt.error and {
        name: text for name, text in attempt.error.items() if unmasked or name != "trace"
    }
    return vars(attempt) | {"error": error, "result": attempt.result if unmasked else None}


def _tell_retention(database: Database) -> Json:
    said = [
        {name: "forever" if value == kept.FOREVER else value for name, value in vars(each).items()}
        for each in kept.list_retention(database)
    ]
    return Json({"retention": said, "keep_until_archived": kept.get_keep_until_archived(database)})
