"""Open, read, close, cancel and retry batches."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated
from uuid import UUID

from fastapi import Body, Path, Query

from minutehand.batches import open_batch
from minutehand.errors import NotFoundError
from minutehand.functions.api.dependencies import Actor, Connected, create_router
from minutehand.functions.api.errors import ApiError, ProblemType
from minutehand.functions.api.openapi import COMMON, WITH_BODY, responds
from minutehand.functions.api.responses import Json
from minutehand.functions.api.schemas import batches as schemas
from minutehand.functions.api.schemas.batches import (
    BatchFilter,
    CancelBatchRequest,
    OpenBatchRequest,
    RetryBatchRequest,
    batch_fields,
)
from minutehand.functions.api.schemas.bulk import CHANGES, JobChanges, changes_fields
from minutehand.operations import batches as operations
from minutehand.queries import batches as queries

NO_SUCH_BATCH = ProblemType(404, "no-such-batch", "The batch does not exist")
LISTED = responds(200, "A page", schemas.BatchStates, {"batches": [schemas.BATCH], "before": None}, *COMMON)
FOUND = responds(200, "The batch", schemas.BatchState, schemas.BATCH, *COMMON, 404)
OPENED = responds(201, "Opened", schemas.OpenedBatch, {"id": schemas.BATCH["id"]}, *WITH_BODY)
CLOSED = responds(200, "Closed", schemas.ClosedBatch, {"closed": True}, *WITH_BODY, 404)
CHANGED = responds(200, "The outcome of each job", JobChanges, CHANGES, *WITH_BODY, 404)

BatchId = Annotated[UUID, Path(alias="id", description="the id that opening the batch returned")]

router = create_router("batches", prefix="/batches")


@router.get("", **LISTED)
def list_batches(filters: Annotated[BatchFilter, Query()], database: Connected) -> Json:
    """List batches, or those that are nested in a `parent`, the latest first; continue with `before`."""
    found = queries.list_batches(database, **vars(filters))
    before = found[-1].id if len(found) == filters.limit else None
    return Json({"batches": [batch_fields(each) for each in found], "before": before})


@router.post("", **OPENED)
def open_new_batch(
    request: Annotated[OpenBatchRequest, Body(openapi_examples=schemas.OPEN_REQUESTS)], database: Connected
) -> Json:
    """Open a batch. It ends with its last job after it was closed."""
    opened = open_batch(
        database, **request.callbacks(), name=request.name, tenant=request.tenant, parent=request.parent
    )
    return Json({"id": opened}, 201, {"Location": f"/batches/{opened}"})


@router.get("/{id}", **FOUND)
def get_batch(batch_id: BatchId, database: Connected) -> Json:
    """Read one batch with the counts of its jobs."""
    with _not_found():
        return Json(batch_fields(queries.get_batch(database, batch_id)))


@router.post("/{id}/close", **CLOSED)
def close_batch(batch_id: BatchId, database: Connected, actor: Actor) -> Json:
    """Close a batch: it ends with its last job, or now if it has none."""
    with _not_found():
        return Json({"closed": operations.close(database, batch_id, actor=actor)})


@router.post("/{id}/cancel", **CHANGED)
def cancel_batch(
    batch_id: BatchId,
    request: Annotated[CancelBatchRequest, Body(openapi_examples=schemas.CANCEL_REQUESTS)],
    database: Connected,
    actor: Actor,
) -> Json:
    """Cancel the upcoming jobs of a batch, at most `limit`."""
    with _not_found():
        return Json(changes_fields(operations.cancel_batch(database, batch_id, **vars(request), actor=actor)))


@router.post("/{id}/retry", **CHANGED)
def retry_batch(
    batch_id: BatchId,
    request: Annotated[RetryBatchRequest, Body(openapi_examples=schemas.RETRY_REQUESTS)],
    database: Connected,
    actor: Actor,
) -> Json:
    """Retry the dead, expired and cancelled jobs of a batch, at most `limit`."""
    with _not_found():
        return Json(changes_fields(operations.retry_batch(database, batch_id, **vars(request), actor=actor)))


@contextmanager
def _not_found() -> Iterator[None]:
    """Turn the library's NotFoundError into the problem of a missing batch."""
    try:
        yield
    except NotFoundError as error:
        raise ApiError(NO_SUCH_BATCH, str(error)) from None
