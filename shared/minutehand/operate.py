"""Operate: what people do to jobs by hand. A running job is refused, and nothing is done by halves."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal
from uuid import UUID

from minutehand.database import Database
from minutehand.enqueue import check_moment
from minutehand.errors import InvalidJobError, KeyTakenError
from minutehand.read import FINISHED, State, check_states
from minutehand.rules import sentence

PURGED_AT_ONCE = 5000


@dataclass(frozen=True)
class Change:
    """What became of one job: `changed`, `refused` in the state it is in (None: its key is taken), or `absent`."""

    id: UUID
    outcome: Literal["changed", "refused", "absent"]
    state: State | None = None
    why: str = ""


def cancel(database: Database, ids: Sequence[UUID], reason: str = "by hand") -> list[Change]:
    """End jobs that do not run and are not finished; they stay in the history as cancelled."""
    return _change(database, "cancel", ids, reason=reason)


def promote(database: Database, ids: Sequence[UUID]) -> list[Change]:
    """Make jobs due at once."""
    return _change(database, "promote", ids)


def reschedule(
    database: Database, ids: Sequence[UUID], run_at: datetime | None = None, delay: timedelta | None = None
) -> list[Change]:
    """Move jobs to another moment, or by a delay from now; a moment in the past means now."""
    if (run_at is None) == (delay is None):
        raise InvalidJobError("run_at_or_delay", "say run_at or delay, and not both")
    if delay is not None and delay < timedelta():
        raise InvalidJobError("delay_is_not_negative", sentence("delay_is_not_negative"))
    return _change(database, "reschedule", ids, run_at=check_moment(run_at), delay=delay)


def retry(database: Database, ids: Sequence[UUID]) -> list[Change]:
    """Bring dead and cancelled jobs back, due at once and with all their attempts."""
    return _change(database, "retry", ids)


def purgeable(
    database: Database,
    before: datetime,
    *,
    queue: str | None = None,
    kind: str | None = None,
    states: Sequence[str] = (),
) -> int:
    """Count the finished jobs that `purge` would delete."""
    counted = database.run(
        "purgeable",
        before=check_moment(before),
        queue=queue,
        kind=kind,
        states=check_states(states, sorted(FINISHED)),
    )
    return int(counted[0]["jobs"])


def purge(
    database: Database,
    before: datetime,
    *,
    queue: str | None = None,
    kind: str | None = None,
    states: Sequence[str] = (),
) -> Iterator[int]:
    """Delete the jobs that were finished before a moment, some thousand at a time; yield each time how many."""
    filters: dict[str, Any] = {
        "before": check_moment(before),
        "queue": queue,
        "kind": kind,
        "states": check_states(states, sorted(FINISHED)),
    }
    while deleted := len(database.run("purge", most=PURGED_AT_ONCE, **filters)):
        yield deleted


def _change(database: Database, verb: str, ids: Sequence[UUID], **parameters: Any) -> list[Change]:
    ids = list(dict.fromkeys(ids))
    try:
        changed = {record["id"] for record in database.run(verb, ids=ids, **parameters)}
    except KeyTakenError:
        if len(ids) == 1:
            return [Change(ids[0], "refused", None, "its key has an upcoming job")]
        return [change for job_id in ids for change in _change(database, verb, [job_id], **parameters)]
    rest = [job_id for job_id in ids if job_id not in changed]
    states = {record["id"]: record["state"] for record in database.run("states", ids=rest)} if rest else {}
    return [
        Change(job_id, "changed") if job_id in changed else _unchanged(verb, job_id, states.get(job_id))
        for job_id in ids
    ]


def _unchanged(verb: str, job_id: UUID, state: State | None) -> Change:
    if state is None:
        return Change(job_id, "absent", None, "there is no such job")
    if state == "running":
        return Change(job_id, "refused", state, "a running job is not touched")
    if verb == "retry" and state in ("dead", "cancelled"):
        return Change(job_id, "refused", state, "its key has an upcoming job")
    if verb == "retry":
        return Change(job_id, "refused", state, f"it is {state}; only dead and cancelled jobs are retried")
    if state in FINISHED:
        return Change(job_id, "refused", state, f"it is {state} already")
    return Change(
        job_id,
        "refused",
        state,
        f"it is {state} without an attempt left, or was changed meanwhile; look again",
    )
