"""Schedules over HTTP: what is enqueued again and again, put, looked at, previewed, paused, run and removed."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Path, Query, Security

import scheduling
from answers import Json
from body import StrictRoute
from connections import Connected, Who
from minutehand import NotFoundError
from minutehand import schedules as library
from minutehand.schedules import StoredSchedule
from problems import Kind, ProblemError
from routes import bearer
from scheduling import PREVIEW, WEEKLY, Page, Preview, Schedule

ABSENT = Kind(404, "no-such-schedule", "There is no such schedule")
MASKED = ("payload", "headers")

Name = Annotated[str, Path(description="the schedule's name", min_length=1, max_length=200)]
Included = Annotated[Literal["payload"] | None, Query(description="tell payload and headers, too")]

schedules = APIRouter(
    prefix="/schedules", tags=["schedules"], route_class=StrictRoute, dependencies=[Security(bearer)]
)


@schedules.get("", **scheduling.LIST)
def list_schedules(database: Connected) -> Json:
    """List all schedules by name."""
    return Json({"schedules": [_told(each) for each in library.list_schedules(database)]})


@schedules.post("/preview", **scheduling.MOMENTS)
def preview_schedule(asked: Annotated[Preview, Body(openapi_examples=PREVIEW)]) -> Json:
    """Tell the next moments of a recurrence, in UTC and by the clocks of its zone; nothing is written."""
    found = library.preview(asked.every, asked.zone, asked.n, starts=asked.starts, ends=asked.ends)
    return Json({"moments": [{"utc": each.utc, "local": each.local.isoformat()} for each in found]})


# Names may have slashes in them; so what is below a name comes before the name itself.


@schedules.get("/{name:path}/firings", **scheduling.FIRINGS)
def list_firings(name: Name, page: Annotated[Page, Query()], database: Connected) -> Json:
    """List what became of a schedule's moments, the last first; go on with `before`."""
    with _known():
        library.get(database, name)
    lines = library.list_firings(database, name, limit=page.limit, before=page.before)
    return Json({"firings": [vars(line) for line in lines]})


@schedules.get("/{name:path}", **scheduling.GET)
def get_schedule(name: Name, database: Connected, include: Included = None) -> Json:
    """Read one schedule; its job's payload and headers only with `include=payload`."""
    with _known():
        return Json(_told(library.get(database, name), unmasked=include == "payload"))


@schedules.put("/{name:path}", **scheduling.PUT)
def put_schedule(
    name: Name, said: Annotated[Schedule, Body(openapi_examples=WEEKLY)], database: Connected, who: Who
) -> Json:
    """Write a schedule; one of that name is changed. Its next moment stays where only its job is another."""
    return Json(_told(library.save(database, said.to_schedule(name), actor=who)))


@schedules.delete("/{name:path}", **scheduling.DELETE)
def delete_schedule(name: Name, database: Connected, who: Who) -> Json:
    """Remove a schedule; the jobs that it enqueued stay, but for those that were enqueued ahead of their moment."""
    with _known():
        was = library.get(database, name)
        library.remove(database, name, actor=who)
    return Json(_told(was))


@schedules.post("/{name:path}/pause", **scheduling.TURN)
def pause_schedule(name: Name, database: Connected, who: Who) -> Json:
    """Have a schedule fire no more until it is resumed."""
    with _known():
        return Json(_told(library.pause(database, name, actor=who)))


@schedules.post("/{name:path}/resume", **scheduling.TURN)
def resume_schedule(name: Name, database: Connected, who: Who) -> Json:
    """Have a schedule go on with the moment that is next by now; what its pause left out is not caught up with."""
    with _known():
        return Json(_told(library.resume(database, name, actor=who)))


@schedules.post("/{name:path}/run", **scheduling.RUN)
def run_schedule(name: Name, database: Connected, who: Who) -> Json:
    """Enqueue the schedule's job now, beside its own moments."""
    with _known():
        job = library.run_now(database, name, actor=who)
    return Json({"id": job}, 201, {"Location": f"/jobs/{job}"})


@contextmanager
def _known() -> Iterator[None]:
    try:
        yield
    except NotFoundError as error:
        raise ProblemError(ABSENT, str(error)) from None


def _told(each: StoredSchedule, *, unmasked: bool = False) -> dict[str, Any]:
    job = {name: value for name, value in vars(each.schedule.job).items() if value is not None}
    shown = {name: value for name, value in job.items() if unmasked or name not in MASKED}
    if "retry" in shown:
        shown["retry"] = shown["retry"].to_json()
    schedule = vars(each.schedule) | {"zone": each.schedule.zone or "UTC", "job": shown}
    stored = {name: value for name, value in vars(each).items() if name not in ("schedule", "hash")}
    return schedule | stored
