"""Operate: what people do to jobs by hand. A running job is refused, and nothing is done by halves.

Every verb takes many ids, says what became of each, and writes who did it into the audit trail, in one transaction.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal
from uuid import UUID

from minutehand.database import Database, Record
from minutehand.errors import InvalidJobError, KeyTakenError
from minutehand.events import emit
from minutehand.events.publish import publish
from minutehand.model.event import Name
from minutehand.model.new_job import check_moment
from minutehand.model.rules import sentence
from minutehand.operations import audit
from minutehand.queries.jobs import FINISHED, State, check_states

PURGED_AT_ONCE = 5000
NOTHING: Mapping[str, Any] = {}
EVENTS: Mapping[str, Name] = {
    "cancel": "cancelled", "promote": "promoted", "reschedule": "rescheduled", "retry": "retried", "edit": "edited",
}  # fmt: skip


@dataclass(frozen=True)
class Change:
    """What became of one job: `changed`, `asked` to end, `refused` in the state it is in, or `absent`.

    A state of None with `refused` means that its key is taken. `new` is the job that a replay made.
    """

    id: UUID
    outcome: Literal["changed", "asked", "refused", "absent"]
    state: State | None = None
    why: str = ""
    new: UUID | None = None


Parameters = Callable[[list[UUID]], dict[str, Any]]
Facts = Callable[[Record], Mapping[str, Any]]


def cancel(
    database: Database,
    ids: Sequence[UUID],
    reason: str = "by hand",
    *,
    running: bool = False,
    who: str | None = None,
) -> list[Change]:
    """End jobs that are not finished; they stay in the history as cancelled, and `retry` brings them back.

    A running job is refused, or with `running` asked to end: at its next `check` or `extend`, or when its claim
    lapses. If it comes to its end before, that counts.
    """
    changes = change(database, "cancel", ids, {"reason": reason}, who, {"reason": reason})
    runs = [each.id for each in changes if running and each.state == "running"]
    asked = (
        change(database, "cancel_running", runs, {"reason": reason}, who, {"reason": reason}) if runs else []
    )
    became = {
        each.id: Change(each.id, "asked", "running", "it ends at its next check")
        if each.outcome == "changed"
        else each
        for each in asked
    }
    return [became.get(each.id, each) for each in changes]


def promote(database: Database, ids: Sequence[UUID], *, who: str | None = None) -> list[Change]:
    """Make jobs due at once."""
    return change(database, "promote", ids, {}, who)


def reschedule(
    database: Database, ids: Sequence[UUID], run_at: datetime | None = None, delay: timedelta | None = None, *,
    who: str | None = None,
) -> list[Change]:  # fmt: skip
    """Move jobs to another moment, or by a delay from now; a moment in the past means now."""
    if (run_at is None) == (delay is None):
        raise InvalidJobError("run_at_or_delay", "set run_at or delay, not both")
    if delay is not None and delay < timedelta():
        raise InvalidJobError("delay_is_not_negative", sentence("delay_is_not_negative"))
    to = {"run_at": check_moment(run_at), "delay": delay}
    return change(database, "reschedule", ids, to, who, to)


def retry(
    database: Database, ids: Sequence[UUID], *, start: timedelta = timedelta(), step: timedelta = timedelta(),
    who: str | None = None,
) -> list[Change]:  # fmt: skip
    """Bring dead and cancelled jobs back, with all their attempts, due at once, or one `step` after the other."""
    delays = {job_id: start + place * step for place, job_id in enumerate(dict.fromkeys(ids))}
    return change(database, "retry", ids, lambda some: {"delays": [delays[job_id] for job_id in some]}, who)


def remove(database: Database, ids: Sequence[UUID], *, who: str | None = None) -> list[Change]:
    """Delete jobs that have not begun; unlike cancelled ones they leave no trace but that in the audit trail."""
    facts: Facts = lambda row: {name: row[name] for name in ("queue", "kind", "key")}  # noqa: E731
    return change(database, "remove", ids, {}, who, facts)


def replay(
    database: Database, ids: Sequence[UUID], *, max_attempts: int | None = 1, window: timedelta = timedelta(),
    suffix: str = "", who: str | None = None, verb: str = "replay", mark: str | None = None,
) -> list[Change]:  # fmt: skip
    """Run finished jobs again, as new ones: a clone with its own id, due now, that does not recur.

    It has one attempt, or with None as many as the job had. Its key is the job's, with the suffix if there is one,
    and a clone whose key has an upcoming job is refused. With a window the clones are spread over it, each at a
    place that its id decides. The job itself stays in the history; `verb` and `mark` are for the audit trail.
    """
    asked = {"max_attempts": max_attempts, "window": window, "suffix": suffix}

    def run() -> list[Change]:
        with database.transaction():
            made = change(
                database, "replay", ids, asked, who, lambda row: {"new": row["new"], "mark": mark}, verb
            )
            _rebind(database, {each.new: each.id for each in made if each.new is not None})
            return made

    return database.again(run)


def _rebind(database: Database, made_of: dict[UUID, UUID]) -> None:
    """Encrypt for the clones what is encrypted for their originals."""
    if made_of and database.run("sealed_of", ids=list(made_of)):
        from minutehand.encryption.reencrypt import (
            rebind,  # here, so that who encrypts nothing does not pay for it
        )

        rebind(database, made_of)


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
    database: Database, before: datetime, *, queue: str | None = None, kind: str | None = None,
    states: Sequence[str] = (), who: str | None = None,
) -> Iterator[int]:  # fmt: skip
    """Delete the jobs that were finished before a moment, some thousand at a time; yield each time how many."""
    filters: dict[str, Any] = {
        "before": check_moment(before),
        "queue": queue,
        "kind": kind,
        "states": check_states(states, sorted(FINISHED)),
    }

    def some() -> int:
        with database.transaction():
            deleted = len(database.run("purge", most=PURGED_AT_ONCE, **filters))
            if deleted:
                audit.record(database, "purge", who, **filters, jobs=deleted)
        return deleted

    while deleted := database.again(some):
        yield deleted


def change(
    database: Database, statement: str, ids: Sequence[UUID], parameters: dict[str, Any] | Parameters,
    who: str | None = None, facts: Mapping[str, Any] | Facts = NOTHING, verb: str = "",
) -> list[Change]:  # fmt: skip
    """Run a statement on jobs and write it down, in one transaction; tell what became of each.

    Where the key of one is taken, each is tried alone.
    """
    ids = list(dict.fromkeys(ids))
    given = parameters(ids) if callable(parameters) else parameters
    try:
        changed = database.again(
            lambda: _write(database, statement, ids, given, who, facts, verb or statement)
        )
    except KeyTakenError:
        if len(ids) == 1:
            return [Change(ids[0], "refused", None, "its key has an upcoming job")]
        alone = (change(database, statement, [job_id], parameters, who, facts, verb) for job_id in ids)
        return [each for changes in alone for each in changes]
    if statement in EVENTS:
        by = {} if who is None else {"who": who}
        publish(database, [emit.row(EVENTS[statement], row, **by) for row in changed.values()])
    rest = [job_id for job_id in ids if job_id not in changed]
    rows = {row["id"]: row for row in database.run("states", ids=rest)} if rest else {}
    return [
        Change(job_id, "changed", new=changed[job_id].get("new"))
        if job_id in changed
        else _unchanged(statement, job_id, rows.get(job_id))
        for job_id in ids
    ]


def _write(
    database: Database, statement: str, ids: list[UUID], parameters: dict[str, Any], who: str | None,
    facts: Mapping[str, Any] | Facts, verb: str,
) -> dict[UUID, Record]:  # fmt: skip
    with database.transaction():
        rows = {row["id"]: row for row in database.run(statement, ids=ids, **parameters)}
        done = [(job_id, facts(row) if callable(facts) else facts) for job_id, row in rows.items()]
        audit.record_all(database, verb, who, done, [row["tenant"] for row in rows.values()])
    return rows


def _unchanged(verb: str, job_id: UUID, row: Record | None) -> Change:
    if row is None:
        return Change(job_id, "absent", None, "there is no such job")
    state = row["state"]
    return Change(job_id, "refused", state, _why(verb, state, row))


def _why(verb: str, state: State, row: Record) -> str:
    if verb == "replay":
        if state not in FINISHED:
            return f"it is {state}; only finished jobs are replayed"
        return "its payload was personal, and is gone" if row["cleared"] else "its key has an upcoming job"
    if state == "running":
        return "a running job is not touched"
    if verb == "retry" and state in ("dead", "cancelled"):
        return "its payload was personal, and is gone" if row["cleared"] else "its key has an upcoming job"
    if verb == "retry":
        return f"it is {state}; only dead and cancelled jobs are retried"
    if state in FINISHED:
        return f"it is {state} already"
    if row["cancelling"] is not None:
        return "it was asked to end, and will"
    return f"it is {state} without an attempt left, or was changed meanwhile; look again"
