"""Change jobs: cancel, promote, reschedule, retry, replay.

Each function takes many ids, returns a Change for each, and writes an audit entry for each change, in one transaction.
A running job is refused. `actor` is the name for the audit trail; without one it is the database user.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from minutehand.database import Database
from minutehand.errors import InvalidJobError
from minutehand.model.new_job import check_moment
from minutehand.model.rules import sentence
from minutehand.operations.change import Change, apply


def cancel(
    database: Database,
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
    changes = apply(database, "cancel", ids, facts, actor=actor, facts=facts)
    busy = [change.id for change in changes if running and change.state == "running"]
    requests = apply(database, "cancel_running", busy, facts, actor=actor, facts=facts) if busy else []
    requested = {
        change.id: Change(change.id, "requested", "running", "the job ends at its next check")
        if change.outcome == "changed"
        else change
        for change in requests
    }
    return [requested.get(change.id, change) for change in changes]


def promote(database: Database, ids: Sequence[UUID], *, actor: str | None = None) -> list[Change]:
    """Make upcoming jobs due now."""
    return apply(database, "promote", ids, {}, actor=actor)


def reschedule(
    database: Database,
    ids: Sequence[UUID],
    run_at: datetime | None = None,
    delay: timedelta | None = None,
    *,
    actor: str | None = None,
) -> list[Change]:
    """Move upcoming jobs to `run_at`, or by `delay` from now. A moment in the past means now."""
    if (run_at is None) == (delay is None):
        raise InvalidJobError("run_at_or_delay", "set run_at or delay, not both")
    if delay is not None and delay < timedelta():
        raise InvalidJobError("delay_is_not_negative", sentence("delay_is_not_negative"))
    moment = {"run_at": check_moment(run_at), "delay": delay}
    return apply(database, "reschedule", ids, moment, actor=actor, facts=moment)


def retry(
    database: Database,
    ids: Sequence[UUID],
    *,
    start: timedelta = timedelta(),
    step: timedelta = timedelta(),
    actor: str | None = None,
) -> list[Change]:
    """Retry dead and cancelled jobs with all their attempts: due after `start`, and one `step` after the other."""
    delays = {job_id: start + place * step for place, job_id in enumerate(dict.fromkeys(ids))}
    return apply(
        database, "retry", ids, lambda some: {"delays": [delays[job_id] for job_id in some]}, actor=actor
    )


def replay(
    database: Database,
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

    def run() -> list[Change]:
        with database.transaction():
            changes = apply(
                database,
                "replay",
                ids,
                options,
                actor=actor,
                facts=lambda row: {"new": row["new"], "mark": mark},
            )
            _rebind(database, {change.new: change.id for change in changes if change.new is not None})
            return changes

    return database.retry_on_conflict(run)


def _rebind(database: Database, original_of: dict[UUID, UUID]) -> None:
    """Re-encrypt the payloads of new jobs, which are encrypted for their originals."""
    if original_of and database.run("encrypted_payloads", ids=list(original_of)):
        # Imported here, so that a process without encryption does not load the cryptography.
        from minutehand.encryption.reencrypt import rebind

        rebind(database, original_of)
