"""Count jobs by queue and state up to a limit, at a cost that does not depend on the number of jobs."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from minutehand.database import Executor, Record, sync_or_async
from minutehand.errors import ForbiddenError, InvalidJobError
from minutehand.model.row import State

MAX_LIMIT = 1000


@dataclass(frozen=True)
class BoundedDepth:
    """The number of jobs of a queue in a state, at least as many if there may be `more`.

    `since` is when the oldest of them became due or died; None if none was counted.
    """

    queue: str
    state: State
    jobs: int
    since: datetime | None
    more: bool


@sync_or_async
async def bounded_stats(
    executor: Executor, *, since: datetime, queue: str | None = None, limit: int = MAX_LIMIT
) -> list[BoundedDepth]:
    """Count the unfinished jobs of each queue by state, and those that died since a time, each up to a limit.

    It reads at most 10,000 due, later, busy and dead jobs each, and the first 1000 lanes with jobs. A session of one
    tenant reads its newest 10,000 unfinished jobs instead.
    """
    if not 1 <= limit <= MAX_LIMIT:
        raise InvalidJobError("page_is_bounded", f"limit must be from 1 to {MAX_LIMIT}, got {limit}")
    records = await _read(executor, since=since, queue=queue, limit=limit)
    return [BoundedDepth(**record) for record in records]


async def _read(executor: Executor, **parameters: Any) -> list[Record]:
    (scope,) = await executor.run("history_scope")
    if not scope["confined"]:
        try:
            # A savepoint, if the caller has a transaction: an error would abort it.
            async with executor.transaction():
                return await executor.run("depths", **parameters)
        except ForbiddenError:
            # A role that may not read lanes.
            pass
    return await executor.run("newest_depths", **parameters)
