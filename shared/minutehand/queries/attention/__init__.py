"""Attention: what an operator should look at now, the worst first, each with its jobs and the next step."""

from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta

from minutehand.database import Executor, Record, sync_or_async
from minutehand.errors import ForbiddenError
from minutehand.model.control import Control
from minutehand.queries.attention.items import (
    DEAD_LIMIT,
    DUE_LIMIT,
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

__all__ = ["Attention", "Item", "attention"]

RECENT = timedelta(hours=1)
# Of the latest unfinished jobs, those that wait for another attempt are found.
MAX_READ = 2000
# Of the latest unfinished jobs of a tenant, those that are late are found.
MAX_LATE = 10_000
MAX_CONTROLS = 200
# Of the offered and running jobs, those whose offers lapsed are found: they are the first by time.
MAX_OFFERED = 1000
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
    state, due = await _read_lanes(executor, confined=bound["confined"])
    if state:
        # In mode `sleep`, ticks come only when a job is due.
        found += [] if state[0]["mode"] == "sleep" else silent(state, now, is_late=bool(due))
        found += throttled(state, now)
    listed = await executor.run("list_controls", after=None, limit=MAX_CONTROLS)
    controls = [Control(**each) for each in listed]
    dead = await executor.run("failing_kinds", since=now - RECENT, dead=DEAD_LIMIT + 1, unfinished=MAX_READ)
    found += [*late(due), *failing(dead, now - RECENT), *paused(controls), *limited(controls)]
    return Attention(now, tuple(_worst(found)))


def _worst(found: list[Item]) -> Iterator[Item]:
    ranked = sorted(found, key=lambda each: (SEVERITIES.index(each.severity), -(each.count or 0)))
    yield from ranked[:MAX_ITEMS]


async def _read_lanes(executor: Executor, *, confined: bool) -> tuple[list[Record], list[Record]]:
    """Return the state of the dispatcher, and the queues with late jobs; no state if the session may not read it."""
    if not confined:
        with suppress(ForbiddenError):
            # A savepoint, if the caller has a transaction: an error would abort it.
            async with executor.transaction():
                state = await executor.run("attention_dispatcher", offered=MAX_OFFERED)
                due = await executor.run("count_due", limit=DUE_LIMIT, now=None)
            return state, [each for each in due if each["late"] > LATE_AFTER]
    return [], await executor.run("late_jobs", period=LATE_AFTER, unfinished=MAX_LATE)
