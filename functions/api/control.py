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
from minutehand import NotFoundError, RunningError
from minutehand.database import Database
from minutehand.operations import jobs as operate
from minutehand.operations.again import redrive, reprocess
from minutehand.operations.audit import list_audit
from minutehand.operations.controls import limit, list_controls, pause, resume, unlimit
from minutehand.operations.drop import drop_all
from minutehand.operations.edit import edit
from minutehand.operations.jobs import Change
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
    (change,) = edit(database, [job_id], **to.said(), who=who)
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
    (change,) = operate.replay(database, [job_id], **vars(how or orders.Replay()), who=who)
    check(change)
    assert change.new is not None
    return Json(tell_job(read.get(database, change.new)), 201, {"Location": f"/jobs/{change.new}"})


@control.delete("/jobs/{id}", **orders.REMOVE)
def remove_job(job_id: JobId, database: Connected, who: Who) -> Json:
    """Delete a job that has not begun. To keep it in the history, cancel it instead."""
    (change,) = operate.remove(database, [job_id], who=who)
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
    return _all_became(redrive(database, **vars(asked), who=who))


@control.post("/jobs/reprocess", **orders.CHANGES)
def reprocess_jobs(
    asked: Annotated[orders.Reprocess, Body(openapi_examples=orders.FILTERS)], database: Connected, who: Who
) -> Json:
    """Replay finished jobs, such as those of an older version of the code, spread over a window; at most `most`.

    Ask again to go on: what was reprocessed for a version is not reprocessed for it again.
    """
    said = {name: value for name, value in vars(asked).items() if name not in ("state", "window")}
    window = asked.window or timedelta()
    return _all_became(reprocess(database, **said, states=asked.state, window=window, who=who))


@control.get("/controls", **orders.CONTROLS)
def tell_controls(database: ConnectedToAll) -> Json:
    """Tell what is paused or limited, and how many jobs of it are offered or running."""
    return Json({"controls": [vars(each) for each in list_controls(database)]})


@control.post("/controls/pause", **orders.CONTROLLED)
def pause_jobs(
    what: Annotated[orders.Pause, Body(openapi_examples=orders.PAUSE)], database: ConnectedToAll, who: Who
) -> Json:
    """Offer and take no more of a queue's, a kind's, a key's or a tenant's jobs; what runs runs to its end."""
    return Json(vars(pause(database, **vars(what), who=who)))


@control.post("/controls/resume", **orders.ENDED)
def resume_jobs(
    what: Annotated[orders.Named, Body(openapi_examples=orders.NAMED)], database: ConnectedToAll, who: Who
) -> Json:
    """End a pause, said by the same names."""
    return Json({"ended": resume(database, **vars(what), who=who)})


@control.post("/controls/limit", **orders.CONTROLLED)
def limit_jobs(
    what: Annotated[orders.Limit, Body(openapi_examples=orders.LIMIT)], database: ConnectedToAll, who: Who
) -> Json:
    """Have at most so many jobs of a queue, a kind, a key or a tenant offered or running at once."""
    return Json(vars(limit(database, **vars(what), who=who)))


@control.post("/controls/unlimit", **orders.ENDED)
def unlimit_jobs(
    what: Annotated[orders.Named, Body(openapi_examples=orders.NAMED)], database: ConnectedToAll, who: Who
) -> Json:
    """End a limit, said by the same names."""
    return Json({"ended": unlimit(database, **vars(what), who=who)})


@control.post("/queues/{queue}/drop", **orders.DROPPED)
def drop_jobs(
    queue: Queue,
    that: Annotated[orders.Drop, Body(openapi_examples=orders.DROP)],
    database: ConnectedToAll,
    who: Who,
) -> Json:
    """Delete all jobs of a queue that neither run nor are finished; nothing brings them back."""
    return Json({"dropped": sum(drop_all(database, queue, that.confirm, who=who))})


@control.get("/audit", **orders.AUDIT)
def audit(asked: Annotated[orders.Trail, Query()], database: Connected) -> Json:
    """Tell who changed what by hand, and when, the latest first."""
    entries = list_audit(
        database, job=asked.job, who=asked.who, verb=asked.verb, before=asked.before, most=asked.limit
    )
    before = entries[-1].id if len(entries) == asked.limit else None
    return Json({"audit": [vars(entry) for entry in entries], "before": before})


def check(change: Change) -> None:
    """Raise the problem that a change met, if it was not made."""
    if change.outcome == "absent":
        raise NotFoundError(f"there is no job {change.id}")
    if change.outcome == "refused":
        raise ProblemError(KINDS[RunningError], change.why, state=change.state)


def _change(asked: orders.Changes, database: Database, who: str | None) -> list[Change]:
    match asked.verb:
        case "cancel":
            return operate.cancel(database, asked.ids, asked.reason, running=asked.running, who=who)
        case "reschedule":
            return operate.reschedule(database, asked.ids, asked.run_at, asked.delay, who=who)
        case verb:
            act = {
                "promote": operate.promote,
                "retry": operate.retry,
                "replay": operate.replay,
                "remove": operate.remove,
            }
            return act[verb](database, asked.ids, who=who)


def _all_became(changes: Iterable[Change]) -> Json:
    jobs = [_became(change) for change in changes]
    counts = Counter(job["outcome"] for job in jobs)
    told = {outcome: counts[outcome] for outcome in ("changed", "asked", "refused", "absent")}
    return Json({**told, "jobs": jobs})


def _became(change: Change) -> dict[str, Any]:
    return {name: value for name, value in vars(change).items() if value not in (None, "")}
