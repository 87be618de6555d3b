"""Control: what people do by hand to many jobs, to queues and kinds, and the trail that it leaves."""

from collections import Counter
from collections.abc import Iterable
from datetime import timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Body, Path, Query, Security

import orders
from answers import Json, tell_job
from body import StrictRoute
from connections import Connected, ConnectedToAll, Who
from minutehand import InvalidJobError, NotFoundError, RunningError
from minutehand.database import Database
from minutehand.operations import deletion
from minutehand.operations import jobs as operate
from minutehand.operations.again import replay_finished, retry_at_rate
from minutehand.operations.audit import list_audit
from minutehand.operations.change import Change
from minutehand.operations.controls import Control, limit, list_controls, pause, resume, unlimit
from minutehand.operations.edit import edit
from minutehand.queries import jobs as read
from problems import KINDS, ProblemError
from routes import JobId, bearer

Queue = Annotated[str, Path(description="the queue's name", max_length=100)]

control = APIRouter(tags=["control"], route_class=StrictRoute, dependencies=[Security(bearer)])


@control.patch("/jobs/{id}", **orders.EDIT)
def edit_job(
    job_id: JobId,
    to: Annotated[orders.Edit, Body(openapi_examples=orders.EDITS)],
    database: Connected,
    who: Who,
) -> Json:
    """Change what a job that has not begun carries, or how it is tried. A running one has been read already."""
    (change,) = edit(database, [job_id], **to.said(), actor=who)
    check(change)
    return Json(tell_job(read.get(database, job_id)))


@control.post("/jobs/{id}/replay", **orders.REPLAY)
def replay_job(
    job_id: JobId,
    database: Connected,
    who: Who,
    how: Annotated[orders.Replay | None, Body(openapi_examples=orders.CLONE)] = None,
) -> Json:
    """Run a finished job again, as a new one: due now, with one attempt, and without recurring."""
    (change,) = operate.replay(database, [job_id], **vars(how or orders.Replay()), actor=who)
    check(change)
    assert change.new is not None
    return Json(tell_job(read.get(database, change.new)), 201, {"Location": f"/jobs/{change.new}"})


@control.delete("/jobs/{id}", **orders.REMOVE)
def remove_job(job_id: JobId, database: Connected, who: Who) -> Json:
    """Delete a job that has not begun. To keep it in the history, cancel it instead."""
    (change,) = deletion.delete(database, [job_id], actor=who)
    check(change)
    return Json(_became(change))


@control.post("/jobs/change", **orders.CHANGES)
def change_jobs(
    asked: Annotated[orders.Changes, Body(openapi_examples=orders.MANY)], database: Connected, who: Who
) -> Json:
    """Make the same change to up to 1000 jobs; what is refused is told, and holds up nothing."""
    return _all_became(_change(asked, database, who))


@control.post("/jobs/redrive", **orders.CHANGES)
def redrive_jobs(
    asked: Annotated[orders.Redrive, Body(openapi_examples=orders.RATE)], database: Connected, who: Who
) -> Json:
    """Bring dead jobs back, so many a minute, with all their attempts; at most `most` of them."""
    return _all_became(retry_at_rate(database, **_finished(asked), actor=who))


@control.post("/jobs/reprocess", **orders.CHANGES)
def reprocess_jobs(
    asked: Annotated[orders.Reprocess, Body(openapi_examples=orders.FILTERS)], database: Connected, who: Who
) -> Json:
    """Replay finished jobs, such as those of an older version of the code, spread over a window; at most `most`.

    Ask again to go on: what was reprocessed for a version is not reprocessed for it again.
    """
    said = {name: value for name, value in _finished(asked).items() if name not in ("state", "window")}
    window = asked.window or timedelta()
    return _all_became(replay_finished(database, **said, states=asked.state, window=window, actor=who))


@control.get("/controls", **orders.CONTROLS)
def tell_controls(database: ConnectedToAll) -> Json:
    """Tell what is paused or limited, and how many jobs of it are offered or running."""
    return Json({"controls": [_control(each) for each in list_controls(database)]})


@control.post("/controls/pause", **orders.CONTROLLED)
def pause_jobs(
    what: Annotated[orders.Pause, Body(openapi_examples=orders.PAUSE)], database: ConnectedToAll, who: Who
) -> Json:
    """Offer and take no more of a queue's, a kind's, a key's or a tenant's jobs; what runs runs to its end."""
    return Json(_control(pause(database, **_values(what), actor=who)))


@control.post("/controls/resume", **orders.ENDED)
def resume_jobs(
    what: Annotated[orders.Named, Body(openapi_examples=orders.NAMED)], database: ConnectedToAll, who: Who
) -> Json:
    """End a pause, said by the same names."""
    return Json({"ended": resume(database, **vars(what), actor=who)})


@control.post("/controls/limit", **orders.CONTROLLED)
def limit_jobs(
    what: Annotated[orders.Limit, Body(openapi_examples=orders.LIMIT)], database: ConnectedToAll, who: Who
) -> Json:
    """Have at most so many jobs of a queue, a kind, a key or a tenant offered or running at once."""
    return Json(_control(limit(database, **_values(what), actor=who)))


@control.post("/controls/unlimit", **orders.ENDED)
def unlimit_jobs(
    what: Annotated[orders.Named, Body(openapi_examples=orders.NAMED)], database: ConnectedToAll, who: Who
) -> Json:
    """End a limit, said by the same names."""
    return Json({"ended": unlimit(database, **vars(what), actor=who)})


@control.post("/queues/{queue}/drop", **orders.DROPPED)
def drop_jobs(
    queue: Queue,
    that: Annotated[orders.Drop, Body(openapi_examples=orders.DROP)],
    database: ConnectedToAll,
    who: Who,
) -> Json:
    """Delete all jobs of a queue that neither run nor are finished; nothing brings them back."""
    if that.confirm != queue:
        raise InvalidJobError("drop_is_confirmed", f"confirm must be {queue!r}, the name of the queue")
    return Json({"dropped": sum(deletion.delete_upcoming(database, queue, actor=who))})


@control.get("/audit", **orders.AUDIT)
def audit(asked: Annotated[orders.Trail, Query()], database: Connected) -> Json:
    """Tell who changed what by hand, and when, the latest first."""
    entries = list_audit(
        database, job=asked.job, actor=asked.who, verb=asked.verb, before=asked.before, limit=asked.limit
    )
    before = entries[-1].id if len(entries) == asked.limit else None
    return Json({"audit": [_renamed(vars(entry), actor="who") for entry in entries], "before": before})


def check(change: Change) -> None:
    """Raise the problem that a change met, if it was not made."""
    if change.outcome == "absent":
        raise NotFoundError(f"there is no job {change.id}")
    if change.outcome == "refused":
        raise ProblemError(KINDS[RunningError], change.reason, state=change.state)


def _change(asked: orders.Changes, database: Database, who: str | None) -> list[Change]:
    match asked.verb:
        case "cancel":
            return operate.cancel(database, asked.ids, asked.reason, running=asked.running, actor=who)
        case "reschedule":
            return operate.reschedule(database, asked.ids, asked.run_at, asked.delay, actor=who)
        case verb:
            act = {
                "promote": operate.promote,
                "retry": operate.retry,
                "replay": operate.replay,
                "remove": deletion.delete,
            }
            return act[verb](database, asked.ids, actor=who)


def _all_became(changes: Iterable[Change]) -> Json:
    jobs = [_became(change) for change in changes]
    counts = Counter(job["outcome"] for job in jobs)
    told = {outcome: counts[outcome] for outcome in ("changed", "asked", "refused", "absent")}
    return Json({**told, "jobs": jobs})


def _became(change: Change) -> dict[str, Any]:
    told = _renamed(vars(change), reason="why")
    if change.outcome == "requested":
        told["outcome"] = "asked"
    return {name: value for name, value in told.items() if value not in (None, "")}


def _control(control: Control) -> dict[str, Any]:
    return _renamed(vars(control), limit="most", reason="why")


def _values(what: orders.Pause | orders.Limit) -> dict[str, Any]:
    return _renamed(vars(what), most="limit", why="reason")


def _finished(asked: orders.Redrive | orders.Reprocess) -> dict[str, Any]:
    return _renamed(vars(asked), most="limit")


def _renamed(values: dict[str, Any], **names: str) -> dict[str, Any]:
    return {names.get(name, name): value for name, value in values.items()}
