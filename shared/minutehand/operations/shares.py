"""Shares: in which proportions tenants get the offers of a queue while it has due jobs of several of them."""

from collections.abc import Sequence
from typing import Any

from minutehand.database import Executor, Record, sync_or_async
from minutehand.errors import InvalidJobError
from minutehand.model.share import Share, check_weight
from minutehand.operations import audit

MAX_LISTED = 1000


@sync_or_async
async def share(
    executor: Executor, weight: int, *, tenant: str, queue: str = "", actor: str | None = None
) -> Share:
    """Set the weight of a tenant in a queue, or in all queues where it has no other; replaces the one with these names.

    With weight 3, it gets three offers for each offer of a tenant with weight 1, as long as both have due jobs.
    """
    scope = {"tenant": tenant, "queue": queue}
    (record,) = await _change(executor, "share", actor, "set_share", scope, weight=check_weight(weight))
    return Share(**record)


@sync_or_async
async def unshare(executor: Executor, *, tenant: str, queue: str = "", actor: str | None = None) -> bool:
    """Remove the weight with exactly these names; return whether there was one."""
    return bool(await _change(executor, "unshare", actor, "end_share", {"tenant": tenant, "queue": queue}))


@sync_or_async
async def list_shares(
    executor: Executor, *, limit: int = MAX_LISTED, after: Sequence[str] | None = None
) -> list[Share]:
    """Return a page of the weights. `after` is the `place` of the last one of the page before."""
    if not 1 <= limit <= MAX_LISTED:
        raise InvalidJobError("page_is_bounded", f"limit must be from 1 to {MAX_LISTED}, got {limit}")
    records = await executor.run("list_shares", limit=limit, after=None if after is None else list(after))
    return [Share(**record) for record in records]


async def _change(
    executor: Executor, verb: str, actor: str | None, statement: str, scope: dict[str, str], **values: Any
) -> list[Record]:
    async def change() -> list[Record]:
        async with executor.transaction():
            records = await executor.run(statement, **scope, **values)
            for record in records:
                await audit.record(executor, verb, actor, **record)
        return records

    return await executor.retry_on_conflict(change)
