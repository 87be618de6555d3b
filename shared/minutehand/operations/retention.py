"""How long finished jobs, attempts and events are kept, and the maintenance step that drops what has expired."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass, fields
from datetime import date, timedelta
from time import monotonic
from typing import Any, Literal

from minutehand.database import Executor, sync_or_async
from minutehand.operations import audit

FOREVER = timedelta.max
# Each step drops a day, deletes up to 5000 rows, or checks a day.
MAX_STEPS = 50
# A tick waits for it.
MAX_SECONDS = 1.0

Category = Literal["done", "dead", "expired", "cancelled", "attempts", "events"]


@dataclass(frozen=True, kw_only=True)
class Retention:
    """How long a queue's finished jobs are kept, by state, and the attempts and events of all its jobs.

    Without a queue it applies to every queue that sets no other. None means: as for every queue, or without a queue,
    forever. FOREVER keeps the rows of one queue.
    """

    queue: str | None = None
    done: timedelta | None = None
    dead: timedelta | None = None
    expired: timedelta | None = None
    cancelled: timedelta | None = None
    attempts: timedelta | None = None
    events: timedelta | None = None


@dataclass(frozen=True)
class Step:
    """One step on a day: `dropped`, rows `deleted`, `checked`, `held` for the archive, or `busy`.

    A step without a day concerns a default partition, which has the rows of days without a partition.
    """

    home: Literal["jobs_done", "attempts", "events"]
    day: date | None
    outcome: Literal["dropped", "deleted", "checked", "held", "busy"]
    jobs: int


CATEGORIES = tuple(field.name for field in fields(Retention) if field.name != "queue")


@sync_or_async
async def list_retention(executor: Executor) -> list[Retention]:
    """Return the retention that is set, that for every queue first."""
    found: dict[str, dict[str, timedelta]] = {}
    for record in await executor.run("list_retention"):
        keep = FOREVER if record["keep"] is None else record["keep"]
        found.setdefault(record["queue"], {})[record["what"]] = keep
    return [Retention(queue=queue or None, **categories) for queue, categories in found.items()]


@sync_or_async
async def set_retention(executor: Executor, retention: Retention, *, actor: str | None = None) -> None:
    """Replace the retention of a queue, or of every queue without one, and write an audit entry."""
    keeps = {name: getattr(retention, name) for name in CATEGORIES if getattr(retention, name) is not None}
    async with executor.transaction():
        await executor.run(
            "set_retention",
            queue=retention.queue or "",
            categories=list(keeps),
            keeps=[None if keep == FOREVER else keep for keep in keeps.values()],
        )
        facts: dict[str, Any] = {
            name: "forever" if keep == FOREVER else f"{keep}" for name, keep in keeps.items()
        }
        await audit.record(executor, "retention", actor, queue=retention.queue, **facts)


@sync_or_async
async def get_keep_until_archived(executor: Executor) -> bool:
    """Return whether rows are kept until their day is archived."""
    return bool((await executor.run("get_keep_until_archived"))[0]["keep_until_archived"])


@sync_or_async
async def set_keep_until_archived(executor: Executor, keep: bool, *, actor: str | None = None) -> None:
    """Set whether retention waits for the archive, and write an audit entry. Deleting jobs never waits."""
    async with executor.transaction():
        await executor.run("set_keep_until_archived", keep=keep)
        await audit.record(executor, "retention", actor, keep_until_archived=keep)


@sync_or_async
async def apply_retention(executor: Executor) -> tuple[Step, ...]:
    """Drop the days whose rows have all expired; of other days delete the expired rows, in chunks.

    Days that are locked, or left when the time is up, are for the next call.
    """
    return tuple([step async for step in _steps(executor)])


async def _steps(executor: Executor) -> AsyncGenerator[Step, None]:
    began = monotonic()
    for _ in range(MAX_STEPS):
        taken = [Step(**record) for record in await executor.run("retain")]
        for step in taken:
            yield step
        if not taken or taken[-1].outcome == "busy" or monotonic() - began > MAX_SECONDS:
            return
