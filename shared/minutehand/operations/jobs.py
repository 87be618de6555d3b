"""Change jobs: cancel, promote, reschedule, retry, replay.

Each function takes many ids, returns a Change for each, and writes an audit entry for each change, in one transaction.
A running job is refused. `actor` is the name for the audit trail; without one it is the database user.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from minutehand.database import Executor, sync_or_async
from minutehand.errors import InvalidJobError
from minutehand.model.new_job import check_time
from minutehand.model.rules import sentence
from minutehand.operations.change import Change, apply


@sync_or_async
async def cancel(
    executor: Executor,
    ids: Sequence[UUID],
    reason: str = "on request",
    *,
    running: bool = False,
    actor: str | None = None,
) -> list[Change]:
    """Cancel upcoming jobs. They stay in the history, and `retry` brings them back.

    With `running`, a running job is requested to end: at its next `check` or `extend`, or when its claim lapses. If it
    finishes first, that outcome counts.
    """
    facts = {"reason": reason}
    changes = await apply(executor, "cancel", ids, facts, actor=actor, facts=facts)
    busy = [change.id for change in changes if running and change.state == "running"]
    requests = await apply(executor, "cancel_running", busy, facts, actor=actor, facts=facts) if busy else []
    requested = {
        change.id: Change(change.id, "requested", "running", "the job ends at its next check")
        if change.outcome == "changed"
        else change
        for change in requests
    }
    return [requested.get(change.id, change) for change in changes]


@sync_or_async
async def promote(executor: Executor, ids: Sequence[UUID], *, actor: str | None = None) -> list[Change]:
    """Make upcoming jobs due now."""
    return await apply(executor, "promote", ids, {}, actor=actor)


@sync_or_async
async def reschedule(
    executor: Executor,
    ids: Sequence[UUID],
    run_at: datetime | None = None,
    delay: timedelta | None = None,
    *,
    actor: str | None = None,
) -> list[Change]:
    """Move upcoming jobs to `run_at`, or by `delay` from now. A time in the past means now."""
    if (run_at is None) == (delay is None):
        got = "both" if run_at else "neither"
        raise InvalidJobError("run_at_or_delay", f"expected run_at or delay, got {got}")
    if delay is not None and delay < timedelta():
        raise InvalidJobError("delay_is_not_negative", sentence("delay_is_not_negative"))
    moment = {"run_at": check_time(run_at), "delay": delay}
    return await apply(executor, "reschedule", ids, moment, actor=actor, facts=moment)


@sync_or_async
async def retry(
    executor: Executor,
    ids: Sequence[UUID],
    *,
    start: timedelta = timedelta(),
    step: timedelta = timedelta(),
    actor: str | None = None,
) -> list[Change]:
    """Retry dead and cancelled jobs with all their attempts: due after `start`, and one `step` after the other."""
    delays = {job_id: start + place * step for place, job_id in enumerate(dict.fromkeys(ids))}
    return await apply(
        executor, "retry", ids, lambda some: {"delays": [delays[job_id] for job_id in some]}, actor=actor
    )


@sync_or_async
async def replay(
    executor: Executor,
    ids: Sequence[UUID],
    *,
    max_attempts: int | None = 1,
    window: timedelta = timedelta(),
    suffix: str = "",
    actor: str | None = None,
    mark: str | None = None,
) -> list[Change]:
    """Run finished jobs again as new jobs, due now and without recurrence. The originals stay in the history.

    A new job has `max_attempts`, or as many as the original if that is None. Its key is the original's plus `suffix`;
    if that key has an upcoming job, the replay is refused. With a `window` the new jobs are spread over it, each at an
    offset derived from its original's id. `mark` is stored in the audit trail.
    """
    options = {"max_attempts": max_attempts, "window": window, "suffix": suffix}

    async def run() -> list[Change]:
        async with executor.transaction():
            changes = await apply(
                executor,
                "replay",
                ids,
                options,
                actor=actor,
                facts=lambda row: {"new": row["new"], "mark": mark},
            )
            await _rebind(executor, {change.new: change.id for change in changes if change.new is not None})
            return changes

    return await executor.retry_on_conflict(run)


async def _rebind(executor: Executor, original_of: dict[UUID, UUID]) -> None:
    """Re-encrypt the payloads of new jobs, which are encrypted for their originals."""
    if original_of and await executor.run("encrypted_payloads", ids=list(original_of)):
        # Imported here, so that a process without encryption does not load the cryptography.
        from minutehand.encryption.reencrypt import rebind

        await rebind(executor, original_of)
