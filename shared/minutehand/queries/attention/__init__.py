"""Attention: what an operator should look at now, the worst first, each with its jobs and the next step."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from minutehand.database import Executor, Record, sync_or_async
from minutehand.errors import ForbiddenError
from minutehand.model.control import Control
from minutehand.queries.attention.items import (
    LATE_AFTER,
    SEVERITIES,
    Attention,
    Item,
    failing,
    late,
    limited,
    paused,
    read_only,
    silent,
    throttled,
)
from minutehand.settings import sleeps

__all__ = ["Attention", "Item", "attention"]

COUNTED = 1000
RECENT = timedelta(hours=1)
MAX_CONTROLS = 200
MAX_ITEMS = 50


@sync_or_async
async def attention(executor: Executor) -> Attention:
    """Return what needs attention, at most 50 items, the worst first.

    Its cost does not depend on the number of jobs. A session of one tenant sees its own jobs and pauses; what concerns
    all tenants, such as the dispatcher, is left out for it, as for any role that may not read it.
    """
    (clock,) = await executor.run("why_clock")
    now = clock["now"]
    found: list[Item] = [read_only()] if clock["read_only"] else []
    (bound,) = await executor.run("history_scope")
    due = await _due(executor, confined=bound["confined"])
    if not bound["confined"]:
        state = await _allowed(executor, "attention_dispatcher")
        # In mode `sleep`, ticks come only when a job is due.
        found += [] if sleeps() else silent(state, now, is_late=bool(due))
        found += throttled(state, now)
    controls = [
        Control(**each) for each in await _allowed(executor, "list_controls", after=None, limit=MAX_CONTROLS)
    ]
    dead = await executor.run("failing_kinds", since=now - RECENT)
    found += [*late(due), *failing(dead, now - RECENT), *paused(controls), *limited(controls)]
    return Attention(now, tuple(_worst(found)))


def _worst(found: list[Item]) -> Iterator[Item]:
    ranked = sorted(found, key=lambda each: (SEVERITIES.index(each.severity), -(each.count or 0)))
    yield from ranked[:MAX_ITEMS]


async def _due(executor: Executor, *, confined: bool) -> list[Record]:
    if not confined and (due := await _allowed(executor, "count_due", limit=COUNTED, now=None)):
        return [each for each in due if each["late"] > LATE_AFTER]
    return await executor.run("late_jobs", period=LATE_AFTER)


async def _allowed(executor: Executor, statement: str, **parameters: Any) -> list[Record]:
    """Return the rows of a statement; none if the role may not read them."""
    try:
        # A savepoint, if the caller has a transaction: an error would abort it.
        async with executor.transaction():
            return await executor.run(statement, **parameters)
    except ForbiddenError:
        return []
