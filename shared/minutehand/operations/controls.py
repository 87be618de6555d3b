"""Pause and limit queues, kinds, keys and tenants, for every dispatcher and worker at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from minutehand.database import Executor, Record, sync_or_async
from minutehand.errors import InvalidJobError
from minutehand.events.publish import publish
from minutehand.model.event import Event, Name
from minutehand.model.new_job import check_time
from minutehand.model.row import Row
from minutehand.operations import audit
from minutehand.waking.sleep import NOW, request

MAX_LISTED = 1000
SCOPE = ("queue", "kind", "key", "tenant")


@dataclass(frozen=True, kw_only=True)
class Control:
    """A pause (`until` a time, or until `resume`), a `limit` of jobs offered or running at once, or both.

    It applies to the jobs that match all of queue, kind, key and tenant; an empty one matches any, so a control without
    names applies to all jobs. `busy` is the number of jobs offered or running.
    """

    queue: str = ""
    kind: str = ""
    key: str = ""
    tenant: str = ""
    paused: bool = False
    limit: int | None = None
    until: datetime | None = None
    reason: str | None = None
    changed: datetime | None = None
    busy: int | None = None

    @property
    def scope(self) -> str:
        """The jobs it applies to, in words: `queue mail, kind invoice`, or `all jobs`."""
        return (
            ", ".join(f"{name} {getattr(self, name)}" for name in SCOPE if getattr(self, name)) or "all jobs"
        )

    @property
    def place(self) -> tuple[str, str, str, str]:
        """Its place in a list: tenant, queue, kind and key."""
        return self.tenant, self.queue, self.kind, self.key

    def applies_to(self, row: Row) -> bool:
        """Whether it applies to a job."""
        return all(getattr(self, name) in ("", getattr(row, name)) for name in SCOPE)


@sync_or_async
async def pause(
    executor: Executor,
    *,
    queue: str = "",
    kind: str = "",
    key: str = "",
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
    scope = _scope(queue, kind, key, tenant, everything)
    values = {**scope, "until": check_time(until, "until"), "reason": reason}

    async def change() -> Record:
        async with executor.transaction():
            await executor.run("hold_ticks")
            (record,) = await executor.run("set_control", **values, paused=True, limit=None)
            recalled = len(await executor.run("recall_offers", **scope))
            await audit.record(executor, "pause", actor, **values, recalled=recalled)
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
    tenant: str = "",
    everything: bool = False,
    actor: str | None = None,
) -> bool:
    """End the pause with exactly this scope; return whether there was one.

    Resuming everything does not end the pauses of single queues, kinds, keys or tenants.
    """
    ended = await _end(executor, "resume", _scope(queue, kind, key, tenant, everything), actor)
    await publish(executor, [_event("resumed", control, actor) for control in ended])
    return bool(ended)


@sync_or_async
async def limit(
    executor: Executor,
    limit: int,
    *,
    queue: str = "",
    kind: str = "",
    key: str = "",
    tenant: str = "",
    reason: str | None = None,
    actor: str | None = None,
) -> Control:
    """Allow at most `limit` of these jobs to be offered or running at once, across all dispatchers and workers.

    Running jobs continue. A worker that exceeds its lease is not counted.
    """
    if isinstance(limit, bool) or not isinstance(limit, int) or not 0 <= limit < 2**31:
        raise InvalidJobError(
            "limit_is_at_least_0", f"limit must be an integer from 0 to 2147483647, got {limit!r}"
        )
    values = {**_scope(queue, kind, key, tenant), "limit": limit, "reason": reason}

    async def change() -> Record:
        async with executor.transaction():
            (record,) = await executor.run("set_control", **values, paused=None, until=None)
            await audit.record(executor, "limit", actor, **values)
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
    tenant: str = "",
    actor: str | None = None,
) -> bool:
    """Remove the limit with exactly this scope; return whether there was one."""
    return bool(await _end(executor, "unlimit", _scope(queue, kind, key, tenant), actor))


@sync_or_async
async def list_controls(
    executor: Executor, *, limit: int = MAX_LISTED, after: Sequence[str] | None = None
) -> list[Control]:
    """Return a page of the pauses and limits, with the number of jobs offered or running under each.

    `after` is the `place` of the last control of the page before.
    """
    if not 1 <= limit <= MAX_LISTED:
        raise InvalidJobError("page_is_bounded", f"limit must be from 1 to {MAX_LISTED}, got {limit}")
    records = await executor.run("list_controls", limit=limit, after=None if after is None else list(after))
    return [Control(**record) for record in records]


@sync_or_async
async def pause_of_everything(executor: Executor) -> Control | None:
    """Return the pause of all jobs, if there is one."""
    records = await executor.run("get_pause_of_everything")
    return Control(paused=True, **records[0]) if records else None


def _scope(queue: str, kind: str, key: str, tenant: str, everything: bool = False) -> dict[str, Any]:
    scope = {"queue": queue or "", "kind": kind or "", "key": key or "", "tenant": tenant or ""}
    if any(scope.values()) == everything:
        expected = "expected either everything or a scope" if everything else "expected at least one"
        raise InvalidJobError("control_is_named", f"{expected} of queue, kind, key and tenant")
    return scope


async def _end(executor: Executor, verb: str, scope: dict[str, Any], actor: str | None) -> list[Control]:
    pause = verb == "resume"

    async def change() -> list[Record]:
        async with executor.transaction():
            records = await executor.run("end_control", **scope, pause=pause, limit=not pause)
            for record in records:
                was = {"was_until": record["until"]} if pause else {"was_limit": record["limit"]}
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
