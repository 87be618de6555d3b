"""Change the jobs of a batch: cancel those that have not started, or retry those that failed. Close a batch."""

import math
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any
from uuid import UUID

from minutehand.batches import close_batch
from minutehand.database import Executor, sync_or_async, sync_or_async_iterator
from minutehand.operations import audit, jobs
from minutehand.operations.change import Change
from minutehand.queries.batches import get_batch

CHUNK = 1000
FIRST = UUID(int=0)


@sync_or_async_iterator
async def cancel_batch(
    executor: Executor,
    batch_id: UUID,
    *,
    reason: str = "on request",
    running: bool = False,
    limit: int | None = None,
    actor: str | None = None,
) -> AsyncGenerator[Change, None]:
    """Cancel the upcoming jobs of a batch and of those nested in it, and yield a Change for each.

    With `running`, running jobs are asked to stop. At most `limit` jobs are tried; without `running`, running jobs do
    not count towards it and are skipped. The batch ends with the last job. Up to 1,000 nested batches that are open
    are closed: one that its program left open would keep this batch from ending. Raises NotFoundError if the batch
    does not exist.
    """
    # Otherwise a repeated call would find the same running jobs again.
    found = {"running": running or limit is None}
    async for ids in _chunks(executor, "unfinished_of_batch", batch_id, limit, found):
        for change in await jobs.cancel(executor, ids, reason=reason, running=running, actor=actor):
            yield change
    for record in await executor.run("open_in_batch", batch=batch_id):
        await close(executor, record["id"], actor=actor)


@sync_or_async_iterator
async def retry_batch(
    executor: Executor, batch_id: UUID, *, limit: int | None = None, actor: str | None = None
) -> AsyncGenerator[Change, None]:
    """Retry the dead, expired and cancelled jobs of a batch and of those nested in it, and yield a Change for each.

    A batch that has ended is open again until they end. A callback that was enqueued before is not enqueued again.
    Raises NotFoundError if the batch does not exist.
    """
    async for ids in _chunks(executor, "failed_of_batch", batch_id, limit, {}):
        for change in await jobs.retry(executor, ids, actor=actor):
            yield change


@sync_or_async
async def close(executor: Executor, batch_id: UUID, *, actor: str | None = None) -> bool:
    """Close a batch that its program left open; return whether it was open, with an audit entry."""

    async def run() -> bool:
        async with executor.transaction():
            tenant = (await get_batch(executor, batch_id)).tenant
            closed = await close_batch(executor, batch_id)
            if closed:
                facts: dict[str, Any] = {"batch": str(batch_id)}
                await audit.record_all(executor, "close_batch", actor, [(None, facts)], [tenant])
            return closed

    return await executor.retry_on_conflict(run)


async def _chunks(
    executor: Executor, statement: str, batch_id: UUID, limit: int | None, found: Mapping[str, bool]
) -> AsyncGenerator[Sequence[UUID], None]:
    """Yield the ids of jobs of a batch, at most `limit`; raise NotFoundError if the batch does not exist."""
    await get_batch(executor, batch_id)
    after, left = FIRST, math.inf if limit is None else limit
    while left > 0:
        rows = await executor.run(
            statement, batch=batch_id, after=after, limit=int(min(CHUNK, left)), **found
        )
        if not rows:
            return
        yield [row["id"] for row in rows]
        after, left = rows[-1]["id"], left - len(rows)
