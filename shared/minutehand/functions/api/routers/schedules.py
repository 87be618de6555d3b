"""List, write, preview, pause, run and delete schedules."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any

from fastapi import Body, Path, Query

from minutehand import schedules as library
from minutehand.database import Database
from minutehand.errors import InvalidJobError, NotFoundError
from minutehand.functions.api.dependencies import Actor, Connected, create_router
from minutehand.functions.api.errors import ApiError, ProblemType
from minutehand.functions.api.openapi import COMMON, WITH_BODY, responds
from minutehand.functions.api.responses import Json
from minutehand.functions.api.schemas import schedules as schemas
from minutehand.functions.api.schemas.common import Include
from minutehand.functions.api.schemas.schedules import (
    FiringFilter,
    PreviewRequest,
    ScheduleFilter,
    ScheduleRequest,
    schedule_fields,
)
from minutehand.functions.api.size import check_size, count_fitting

NO_SUCH_SCHEDULE = ProblemType(404, "no-such-schedule", "The schedule does not exist")
LISTED = responds(200, "A page", schemas.Schedules, schemas.SCHEDULES, *COMMON)
PREVIEWED = responds(200, "The next occurrences", schemas.Occurrences, schemas.OCCURRENCES, *WITH_BODY)
FIRINGS = responds(200, "A page", schemas.Firings, {"firings": [schemas.FIRING]}, *COMMON, 404)
FOUND = responds(200, "The schedule", schemas.Schedule, schemas.SCHEDULE, *COMMON, 404, 413)
WRITTEN = responds(200, "The schedule", schemas.Schedule, schemas.SCHEDULE, *WITH_BODY, 404)
DELETED = responds(200, "The deleted schedule", schemas.Schedule, schemas.SCHEDULE, *COMMON, 404)
RUN = responds(201, "Enqueued", schemas.ScheduleRun, {"id": schemas.JOB_ID}, *WITH_BODY, 404, 409)

Name = Annotated[str, Path(description="the schedule's name", min_length=1, max_length=200)]
IncludePayload = Annotated[Include | None, Query(description="include payload and headers")]

router = create_router("schedules", prefix="/schedules")


@router.get("", **LISTED)
def list_schedules(filters: Annotated[ScheduleFilter, Query()], database: Connected) -> Json:
    """List schedules by name; continue with `after`.

    With `name`, return that schedule only, or none. A path cannot name a schedule whose name ends with `/firings`.
    """
    if filters.name is not None:
        return Json({"schedules": _named(database, filters.name, filters.include), "after": None})
    if filters.include is not None:
        raise InvalidJobError("include_is_of_one", "include must not be used without name")
    # No tenant has a slash.
    tenant, _, name = (filters.after or "").partition("/")
    listed = library.list_schedules(
        database, limit=filters.limit, after=None if filters.after is None else (tenant, name)
    )
    found = [schedule_fields(each) for each in listed]
    count = count_fitting(found)
    more = count < len(found) or count == filters.limit
    after = f"{found[count - 1]['tenant']}/{found[count - 1]['name']}" if more else None
    return Json({"schedules": found[:count], "after": after})


@router.post("/preview", **PREVIEWED)
def preview_schedule(
    request: Annotated[PreviewRequest, Body(openapi_examples=schemas.PREVIEW_REQUESTS)],
) -> Json:
    """Return the next occurrences, in UTC and in the time zone of the recurrence. Nothing is written."""
    found = library.preview(request.every, request.zone, request.n, starts=request.starts, ends=request.ends)
    return Json({"occurrences": [{"utc": each.utc, "local": each.local.isoformat()} for each in found]})


# A name may contain slashes, so the paths below a name are matched before the name itself.


@router.get("/{name:path}/firings", **FIRINGS)
def list_firings(name: Name, filters: Annotated[FiringFilter, Query()], database: Connected) -> Json:
    """List the firings of a schedule, the newest first; continue with `before`."""
    with _not_found():
        library.get(database, name)
    firings = library.list_firings(database, name, limit=filters.limit, before=filters.before)
    return Json({"firings": [vars(each) for each in firings]})


@router.get("/{name:path}", **FOUND)
def get_schedule(name: Name, database: Connected, include: IncludePayload = None) -> Json:
    """Read one schedule; its job's payload and headers only with `include=payload`."""
    with _not_found():
        return Json(check_size(schedule_fields(library.get(database, name), unmasked=include == "payload")))


@router.put("/{name:path}", **WRITTEN)
def put_schedule(
    name: Name,
    request: Annotated[ScheduleRequest, Body(openapi_examples=schemas.SCHEDULE_REQUESTS)],
    database: Connected,
    actor: Actor,
) -> Json:
    """Create or replace a schedule. Its next occurrence is unchanged if only its job changes."""
    return Json(schedule_fields(library.save(database, request.to_schedule(name), actor=actor)))


@router.delete("/{name:path}", **DELETED)
def delete_schedule(name: Name, database: Connected, actor: Actor) -> Json:
    """Delete a schedule and the jobs that it enqueued ahead of their occurrence; its other jobs stay."""
    with _not_found():
        deleted = library.get(database, name)
        library.delete(database, name, actor=actor)
    return Json(schedule_fields(deleted))


@router.post("/{name:path}/pause", **WRITTEN)
def pause_schedule(name: Name, database: Connected, actor: Actor) -> Json:
    """Pause a schedule until it is resumed."""
    with _not_found():
        return Json(schedule_fields(library.pause(database, name, actor=actor)))


@router.post("/{name:path}/resume", **WRITTEN)
def resume_schedule(name: Name, database: Connected, actor: Actor) -> Json:
    """Resume a schedule at its next occurrence; the occurrences during the pause do not fire."""
    with _not_found():
        return Json(schedule_fields(library.resume(database, name, actor=actor)))


@router.post("/{name:path}/run", **RUN)
def run_schedule(name: Name, database: Connected, actor: Actor) -> Json:
    """Enqueue the schedule's job now, in addition to its occurrences."""
    with _not_found():
        job = library.run_now(database, name, actor=actor)
    return Json({"id": job}, 201, {"Location": f"/jobs/{job}"})


def _named(database: Database, name: str, include: Include | None) -> list[Mapping[str, Any]]:
    """Return a schedule as a list of one, or an empty list if there is none."""
    try:
        found = library.get(database, name)
    except NotFoundError:
        return []
    return [check_size(schedule_fields(found, unmasked=include == "payload"))]


@contextmanager
def _not_found() -> Iterator[None]:
    """Turn the library's NotFoundError into the problem of a missing schedule."""
    try:
        yield
    except NotFoundError as error:
        raise ApiError(NO_SUCH_SCHEDULE, str(error)) from None
