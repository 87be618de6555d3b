"""Enqueue one job, or a batch."""

from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Any

from fastapi import Body, Request

from minutehand.database import Database
from minutehand.enqueue import enqueue, enqueue_many
from minutehand.functions.api.dependencies import Connected, create_router
from minutehand.functions.api.errors import library_problem, validation_problem
from minutehand.functions.api.openapi import LOCATION, WITH_BODY, responds, response
from minutehand.functions.api.request_log import count_outcome
from minutehand.functions.api.responses import Json
from minutehand.functions.api.schemas import enqueue as schemas
from minutehand.functions.api.schemas.enqueue import BatchRequest, EnqueueRequest
from minutehand.functions.api.size import MAX_BYTES, size_of
from minutehand.model.enqueued import Enqueued, Rejected

OUTCOMES = ("created", "replaced", "merged", "ignored", "rejected")
ENQUEUED = responds(201, "Created", schemas.EnqueueResult, schemas.RESULT, *WITH_BODY, 409, headers=LOCATION)
ENQUEUED["responses"][200] = response(
    "The key's upcoming job was replaced, merged or left unchanged",
    schemas.EnqueueResult,
    {**schemas.RESULT, "outcome": "replaced"},
    headers=LOCATION,
)
BATCH = responds(200, "All jobs were enqueued", schemas.BatchResult, schemas.ALL_ENQUEUED, *WITH_BODY)
BATCH["responses"][207] = response(
    "Some or all jobs were rejected", schemas.BatchResult, schemas.SOME_REJECTED
)

router = create_router("jobs", prefix="/jobs")


@router.post("", **ENQUEUED)
def enqueue_one(
    request: Request,
    job: Annotated[EnqueueRequest, Body(openapi_examples=schemas.ENQUEUE_REQUESTS)],
    database: Connected,
) -> Json:
    """Enqueue one job, to run now, at a given time or after a delay.

    If the `key` already has an upcoming job in the queue, `on_conflict` decides: the job is replaced, merged or left
    unchanged, or the answer is a 409.
    """
    enqueued = enqueue(**vars(job.to_job()), connection=database)
    count_outcome(request.scope, enqueued.outcome)
    status = 201 if enqueued.outcome == "created" else 200
    return Json(_result(enqueued), status, {"Location": f"/jobs/{enqueued.id}"})


@router.post("/batch", **BATCH)
def enqueue_batch(
    request: Request,
    batch: Annotated[BatchRequest, Body(openapi_examples=schemas.BATCH_REQUESTS)],
    database: Connected,
) -> Json:
    """Enqueue up to 1000 jobs. The answer is a 200 if all were enqueued, otherwise a 207.

    A rejected job is listed with its problem and does not affect the others. A 503 may leave part of the batch
    enqueued: give the jobs keys, then the batch can be sent again.
    """
    items = _enqueue_items(batch, database)
    for item in items:
        count_outcome(request.scope, item["outcome"])
    counts = Counter(item["outcome"] for item in items)
    result: dict[str, Any] = {**{outcome: counts[outcome] for outcome in OUTCOMES}, "items": items}
    if counts["rejected"] and size_of(result) > MAX_BYTES:
        # The jobs are enqueued, so the response must be sent. Each problem still has its first fault, as `detail`.
        for item in items:
            item.get("problem", {}).pop("errors", None)
    return Json(result, 207 if counts["rejected"] else 200)


def _result(enqueued: Enqueued) -> dict[str, Any]:
    return {"id": enqueued.id, "outcome": enqueued.outcome, "visible": enqueued.visible}


def _enqueue_items(batch: BatchRequest, database: Database) -> list[dict[str, Any]]:
    items = {ordinal: _rejected(validation_problem(faults)) for ordinal, faults in _invalid_items(batch)}
    valid = {ordinal: job.to_job() for ordinal, job in enumerate(batch.jobs) if ordinal not in items}
    results = enqueue_many(valid.values(), on_conflict=batch.on_conflict, connection=database)
    for ordinal, result in zip(valid, results, strict=True):
        items[ordinal] = (
            _rejected(library_problem(result.error)) if isinstance(result, Rejected) else _result(result)
        )
    return [{"ordinal": ordinal, **item} for ordinal, item in sorted(items.items())]


def _invalid_items(batch: BatchRequest) -> Iterator[tuple[int, list[Any]]]:
    items: list[Any] = [*batch.jobs]
    for ordinal, item in enumerate(items):
        if isinstance(item, schemas.InvalidItem):
            prefix = ("body", "jobs", ordinal)
            yield ordinal, [{**fault, "loc": (*prefix, *fault["loc"])} for fault in item.faults]


def _rejected(problem: dict[str, Any]) -> dict[str, Any]:
    return {"outcome": "rejected", "problem": problem}
