"""Routes: what each endpoint asks of the library, and how it tells the answer."""

from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Body, Path, Request, Security
from fastapi.security import HTTPBearer

from answers import Json, tell_job
from body import StrictRoute
from connections import Connected, Who
from minutehand import Database, Enqueued, NotFoundError, Rejected, RunningError, enqueue, enqueue_many
from minutehand.operations import jobs as operate
from minutehand.operations.change import Change
from minutehand.queries import jobs as read
from models import Batch, Cancel, Malformed, OneJob, Reschedule
from openapi import BATCH, CHANGE, ENQUEUE, HEALTH, MANY_JOBS, MOMENTS, ONE_JOB, REASON
from problems import KINDS, ProblemError, describe_error, describe_faults
from watch import count

OUTCOMES = ("created", "replaced", "merged", "ignored", "rejected")
JobId = Annotated[UUID, Path(alias="id", description="the id that enqueuing returned")]

bearer = HTTPBearer(auto_error=False, description="one of the tokens in MINUTEHAND_API_TOKENS")
jobs = APIRouter(prefix="/jobs", tags=["jobs"], route_class=StrictRoute, dependencies=[Security(bearer)])
health = APIRouter(tags=["health"])


@jobs.post("", **ENQUEUE)
def enqueue_one(
    request: Request, job: Annotated[OneJob, Body(openapi_examples=ONE_JOB)], database: Connected
) -> Json:
    """Enqueue one job, to run at any moment or after any delay.

    With a `key`, an upcoming job of that key in the queue is replaced, merged, or stays, or is a 409, as `on_conflict`
    says.
    """
    became = enqueue(**vars(job.to_job()), connection=database)
    count(request.scope, became.outcome)
    status = 201 if became.outcome == "created" else 200
    return Json(_enqueued(became), status, {"Location": f"/jobs/{became.id}"})


@jobs.post("/batch", **BATCH)
def enqueue_batch(
    request: Request, batch: Annotated[Batch, Body(openapi_examples=MANY_JOBS)], database: Connected
) -> Json:
    """Enqueue up to 1000 jobs, each by the rules of one: the answer is 200 if all went in, else 207.

    What is rejected is listed with its problem and holds up nothing. A 503 may leave a part of the batch enqueued:
    give jobs a key, and the batch can be sent again.
    """
    items = _enqueue_items(batch, database)
    for item in items:
        count(request.scope, item["outcome"])
    counts = Counter(item["outcome"] for item in items)
    told_counts = {outcome: counts[outcome] for outcome in OUTCOMES}
    return Json({**told_counts, "items": items}, 207 if counts["rejected"] else 200)


@jobs.post("/{id}/cancel", **CHANGE)
def cancel_job(
    job_id: JobId,
    database: Connected,
    who: Who,
    why: Annotated[Cancel | None, Body(openapi_examples=REASON)] = None,
) -> Json:
    """End a job that is not finished; it stays in the history as cancelled.

    A running one is refused, or with `running` asked to end at its next check; it is told as running until then.
    """
    asked = why or Cancel()
    return _changed(
        database, operate.cancel(database, [job_id], asked.reason, running=asked.running, actor=who)
    )


@jobs.post("/{id}/promote", **CHANGE)
def promote_job(job_id: JobId, database: Connected, who: Who) -> Json:
    """Make a job due at once."""
    return _changed(database, operate.promote(database, [job_id], actor=who))


@jobs.post("/{id}/reschedule", **CHANGE)
def reschedule_job(
    job_id: JobId, to: Annotated[Reschedule, Body(openapi_examples=MOMENTS)], database: Connected, who: Who
) -> Json:
    """Move a job to another moment, `run_at`, or `delay` from now."""
    return _changed(database, operate.reschedule(database, [job_id], to.run_at, to.delay, actor=who))


@jobs.post("/{id}/retry", **CHANGE)
def retry_job(job_id: JobId, database: Connected, who: Who) -> Json:
    """Bring a dead or cancelled job back, due at once and with all its attempts."""
    return _changed(database, operate.retry(database, [job_id], actor=who))


@health.get("/health", **HEALTH)
def check_health(database: Connected) -> Json:
    """Say whether the database can be reached and has its schema. Needs no token."""
    database.run("get_states", ids=[])
    return Json({"status": "ok"})


def _enqueued(became: Enqueued) -> dict[str, Any]:
    return {"id": became.id, "outcome": became.outcome, "visible": became.visible}


def _enqueue_items(batch: Batch, database: Database) -> list[dict[str, Any]]:
    items = {place: _rejected(describe_faults(faults)) for place, faults in _malformed(batch)}
    good = {place: job.to_job() for place, job in enumerate(batch.jobs) if place not in items}
    enqueued = enqueue_many(good.values(), on_conflict=batch.on_conflict, connection=database)
    for place, became in zip(good, enqueued, strict=True):
        items[place] = (
            _rejected(describe_error(became.error)) if isinstance(became, Rejected) else _enqueued(became)
        )
    return [{"ordinal": place, **item} for place, item in sorted(items.items())]


def _malformed(batch: Batch) -> Iterator[tuple[int, list[Any]]]:
    jobs: list[Any] = [*batch.jobs]
    for place, job in enumerate(jobs):
        if isinstance(job, Malformed):
            yield place, [{**fault, "loc": ("body", "jobs", place, *fault["loc"])} for fault in job.faults]


def _rejected(problem: dict[str, Any]) -> dict[str, Any]:
    return {"outcome": "rejected", "problem": problem}


def _changed(database: Database, changes: list[Change]) -> Json:
    (change,) = changes
    if change.outcome == "absent":
        raise NotFoundError(f"there is no job {change.id}")
    if change.outcome == "refused":
        raise ProblemError(KINDS[RunningError], change.reason, state=change.state)
    return Json(tell_job(read.get(database, change.id)))
