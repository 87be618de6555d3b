"""Delete jobs: by id, all upcoming jobs of a queue, or finished jobs. A deleted job cannot be restored.

To stop jobs without deleting them, pause their queue. To end them and keep them in the history, cancel them.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from minutehand.database import Executor, Record, sync_or_async, sync_or_async_iterator
from minutehand.model.new_job import check_time
from minutehand.model.row import FINISHED
from minutehand.operations import audit
from minutehand.operations.change import Change, apply
from minutehand.queries.jobs import check_states
from minutehand.waking import wake_ended

CHUNK = 5000


@sync_or_async
async def delete(executor: Executor, ids: Sequence[UUID], *, actor: str | None = None) -> list[Change]:
    """Delete upcoming jobs by id. Only the audit trail keeps their queue, kind and key."""

    def facts(row: Record) -> Mapping[str, Any]:
        return {name: row[name] for name in ("queue", "kind", "key")}

    return await apply(executor, "delete", ids, {}, actor=actor, facts=facts)


@sync_or_async
async def count_upcoming(executor: Executor, queue: str) -> int:
    """Count the jobs that `delete_upcoming` would delete."""
    return int((await executor.run("count_upcoming", queue=queue))[0]["jobs"])


@sync_or_async_iterator
async def delete_upcoming(
    executor: Executor, queue: str, *, actor: str | None = None
) -> AsyncGenerator[int, None]:
    """Delete all upcoming jobs of a queue in chunks; yield the size of each chunk. Running jobs stay."""
    while deleted := await _delete_chunk(executor, "delete_upcoming", {"queue": queue}, actor):
        yield deleted


@sync_or_async
async def count_finished(
    executor: Executor,
    before: datetime,
    *,
    queue: str | None = None,
    kind: str | None = None,
    states: Sequence[str] = (),
) -> int:
    """Count the jobs that `delete_finished` would delete."""
    return int((await executor.run("count_finished", **_finished(before, queue, kind, states)))[0]["jobs"])


@sync_or_async_iterator
async def delete_finished(
    executor: Executor,
    before: datetime,
    *,
    queue: str | None = None,
    kind: str | None = None,
    states: Sequence[str] = (),
    actor: str | None = None,
) -> AsyncGenerator[int, None]:
    """Delete the jobs that finished before a time, in chunks; yield the size of each chunk."""
    filters = _finished(before, queue, kind, states)
    while deleted := await _delete_chunk(executor, "delete_finished", filters, actor):
        yield deleted


def _finished(before: datetime, queue: str | None, kind: str | None, states: Sequence[str]) -> dict[str, Any]:
    return {
        "before": check_time(before, "before"),
        "queue": queue,
        "kind": kind,
        "states": check_states(states, sorted(FINISHED)),
    }


async def _delete_chunk(
    executor: Executor, statement: str, filters: dict[str, Any], actor: str | None
) -> int:
    async def delete_chunk() -> int:
        async with executor.transaction():
            deleted = await executor.run(statement, limit=CHUNK, **filters)
            if deleted:
                await audit.record(executor, "delete", actor, **filters, jobs=len(deleted))
            await wake_ended(executor, deleted)
        return len(deleted)

    return await executor.retry_on_conflict(delete_chunk)
