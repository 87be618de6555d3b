"""Pause and limit queues, kinds, keys, groups and tenants, for every dispatcher and worker at once."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from minutehand.database import Executor, Record, sync_or_async
from minutehand.errors import InvalidJobError
from minutehand.events.publish import publish
from minutehand.model.control import LIMITING, Control, Hold, OnDead, Per, check_limit, check_scope
from minutehand.model.event import Event, Name
from minutehand.model.new_job import check_time
from minutehand.operations import audit
from minutehand.waking.sleep import NOW, request

MAX_LISTED = 1000


@sync_or_async
async def pause(
    executor: Executor,
    *,
    queue: str = "",
    kind: str = "",
    key: str = "",
    group: str = "",
    tenant: str = "",
    everything: bool = False,
    until: datetime | None = None,
    reason: str | None = None,
    actor: str | None = None,
) -> Control:
    """Stop offering and taking these jobs, until a time or until `resume`. Running jobs continue.

    With `everything`, no job of any queue starts; jobs are still enqueued, and schedules still fire.
    Unclaimed offers are recalled in the same transaction, while no tick makes offers: once this returns, no earlier
    offer of these jobs can be claimed.
    """
    scope = check_scope(queue, kind, key, group, tenant, everything=everything)
    ends = check_time(until, "until")
    values = {**scope, "until": ends, "reason": reason}

    async def change() -> Record:
        async with executor.transaction():
            await executor.run("hold_ticks")
            (record,) = await executor.run("set_pause", **values)
            recalled = len(await executor.run("recall_offers", **scope))
            await audit.record(executor, "pause", actor, **values, recalled=recalled)
            # If it replaces a pause without an end, or with a later one, no tick knows of its end.
            await request(executor, [ends])
        return record

    control = Control(**await executor.retry_on_conflict(change))
    await publish(executor, [_event("paused", control, actor)])
    return control


@sync_or_async
async def resume(
    executor: Executor,
    *,
    queue: str = "",
    kind: str = "",
    key: str = "",
    group: str = "",
    tenant: str = "",
    everything: bool = False,
    actor: str | None = None,
) -> bool:
    """End the pause with exactly this scope; return whether there was one.

    Resuming everything does not end the pauses of single queues, kinds, keys or tenants.
    """
    scope = check_scope(queue, kind, key, group, tenant, everything=everything)
    ended = await _end(executor, "resume", scope, actor)
    await publish(executor, [_event("resumed", control, actor) for control in ended])
    return bool(ended)


@sync_or_async
async def limit(
    executor: Executor,
    limit: int | None = None,
    *,
    queue: str = "",
    kind: str = "",
    key: str = "",
    group: str = "",
    tenant: str = "",
    per: Per = "",
    rate: int | None = None,
    period: timedelta | None = None,
    burst: int | None = None,
    in_order: bool | None = None,
    on_dead: OnDead | None = None,
    break_after: int | None = None,
    break_for: timedelta | None = None,
    reason: str | None = None,
    actor: str | None = None,
) -> Control:
    """Limit these jobs, across all dispatchers and workers; replaces the limit with the same names.

    At most `limit` of them are offered or running at once. At most `rate` start in each `period`, in bursts of up to
    `burst`, by default `rate`. `per` limits each group, key or tenant; a limit that names one of them, and has the same
    other names, takes its place for that one. With `in_order`, the jobs of a group start in the order of `run_at`; a
    dead job blocks its group, or with `on_dead="continue"`, the default, is passed over. After `break_after`
    consecutive failed attempts, no job of the group starts for `break_for`, by default a minute; then one at a time
    does, until one succeeds.
    Running jobs continue. A worker that exceeds its lease is not counted.
    """
    scope = check_scope(queue, kind, key, group, tenant, per=per)
    values = check_limit(
        scope,
        limit=limit,
        rate=rate,
        period=period,
        burst=burst,
        in_order=in_order,
        on_dead=on_dead,
        break_after=break_after,
        break_for=break_for,
    )

    async def change() -> Record:
        async with executor.transaction():
            (record,) = await executor.run("set_limit", **scope, **values, reason=reason)
            await audit.record(executor, "limit", actor, **scope, **values, reason=reason)
            # It may be higher than the last one.
            await request(executor, [NOW])
        return record

    return Control(**await executor.retry_on_conflict(change))


@sync_or_async
async def unlimit(
    executor: Executor,
    *,
    queue: str = "",
    kind: str = "",
    key: str = "",
    group: str = "",
    tenant: str = "",
    per: Per = "",
    actor: str | None = None,
) -> bool:
    """Remove the limit with exactly these names; return whether there was one."""
    scope = check_scope(queue, kind, key, group, tenant, per=per)
    return bool(await _end(executor, "unlimit", scope, actor))


@sync_or_async
async def unblock(
    executor: Executor, group: str, *, queue: str = "default", tenant: str = "", actor: str | None = None
) -> bool:
    """Unblock a group that is blocked by a dead job or by `RetryAfter`; return whether it was.

    The dead job stays dead. A breaker stays open.
    """
    scope: dict[str, Any] = {"queue": queue, "tenant": tenant, "group": group}

    async def change() -> bool:
        async with executor.transaction():
            ended = [record["job"] for record in await executor.run("unblock_group", **scope)]
            if ended:
                jobs = len(ended) - ended.count(None)
                await audit.record(executor, "unblock", actor, **scope, jobs=jobs, retry_after=None in ended)
            # The next wake-up may be that of the end of the wait.
            await request(executor, [NOW] if ended else [])
        return bool(ended)

    return await executor.retry_on_conflict(change)


@sync_or_async
async def list_controls(
    executor: Executor, *, limit: int = MAX_LISTED, after: Sequence[str] | None = None
) -> list[Control]:
    """Return a page of the pauses and limits, with the number of jobs offered or running under each. See `Control`.

    `after` is the `place` of the last control of the page before.
    """
    if not 1 <= limit <= MAX_LISTED:
        raise InvalidJobError("page_is_bounded", f"limit must be from 1 to {MAX_LISTED}, got {limit}")
    records = await executor.run("list_controls", limit=limit, after=None if after is None else list(after))
    return [Control(**record) for record in records]


@sync_or_async
async def list_holds(executor: Executor, *, limit: int = MAX_LISTED) -> list[Hold]:
    """Return the groups that `RetryAfter` holds back, those that wait the longest."""
    if not 1 <= limit <= MAX_LISTED:
        raise InvalidJobError("page_is_bounded", f"limit must be from 1 to {MAX_LISTED}, got {limit}")
    return [Hold(**record) for record in await executor.run("list_holds", limit=limit)]


@sync_or_async
async def pause_of_everything(executor: Executor) -> Control | None:
    """Return the pause of all jobs, if there is one."""
    records = await executor.run("get_pause_of_everything")
    return Control(paused=True, **records[0]) if records else None


async def _end(executor: Executor, verb: str, scope: dict[str, Any], actor: str | None) -> list[Control]:
    pause = verb == "resume"

    async def change() -> list[Record]:
        async with executor.transaction():
            records = await executor.run("end_control", **scope, pause=pause, limit=not pause)
            for record in records:
                parts = ("until",) if pause else LIMITING
                was = {f"was_{name}": record[name] for name in parts}
                await audit.record(executor, verb, actor, **scope, **was)
            # A tick sees which of these jobs are due.
            await request(executor, [NOW] if records else [])
        return records

    return [Control(**record) for record in await executor.retry_on_conflict(change)]


def _event(name: Name, control: Control, actor: str | None) -> Event:
    facts = {"until": control.until, "reason": control.reason, "actor": actor}
    return Event(
        name=name,
        queue=control.queue or None,
        kind=control.kind or None,
        key=control.key or None,
        tenant=control.tenant,
        facts={name: value for name, value in facts.items() if value is not None},
    )
