"""Read batches, and the counts of their jobs."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal
from uuid import UUID

from minutehand.database import Executor, sync_or_async
from minutehand.errors import InvalidJobError, NotFoundError

MAX_PAGE = 1000


@dataclass(frozen=True, kw_only=True)
class BatchRow:
    """A batch, its `parent` if it is nested, and `nested`, the number of batches in it, up to 100.

    The counts include jobs whose rows retention has deleted, and each batch in it as one job.

    `on_complete` and `on_failure` are the kinds of its callbacks, `complete_job` and `failure_job` their jobs once they
    are enqueued, and `error` the reason why a callback could not be.
    """

    id: UUID
    parent: UUID | None
    nested: int
    tenant: str
    name: str | None
    created: datetime
    closed: datetime | None
    ended: datetime | None
    on_complete: str | None
    on_failure: str | None
    complete_job: UUID | None
    failure_job: UUID | None
    error: str | None = field(repr=False)
    total: int
    open: int
    done: int
    dead: int
    expired: int
    cancelled: int

    @property
    def state(self) -> Literal["open", "closed", "ended"]:
        """`open` until it is closed, `ended` once none of its jobs is left."""
        if self.ended is not None:
            return "ended"
        return "open" if self.closed is None else "closed"


@sync_or_async
async def get_batch(executor: Executor, batch_id: UUID) -> BatchRow:
    """Return a batch; raise NotFoundError if it does not exist."""
    records = await executor.run("get_batches", ids=[batch_id])
    if not records:
        raise NotFoundError(f"batch {batch_id} not found")
    return BatchRow(**records[0])


@sync_or_async
async def list_batches(
    executor: Executor, *, parent: UUID | None = None, before: UUID | None = None, limit: int = 50
) -> list[BatchRow]:
    """Return a page of the batches, or of those in a parent, the latest first.

    The id of the last one is `before` for the next page.
    """
    if not 1 <= limit <= MAX_PAGE:
        raise InvalidJobError("page_is_bounded", f"limit must be from 1 to {MAX_PAGE}, got {limit}")
    found = await executor.run("list_batches", parent=parent, before=before, limit=limit)
    return [BatchRow(**each) for each in found]
