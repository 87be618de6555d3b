"""Apply a change to many jobs in one transaction, with its audit entries, and report the outcome of each."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from minutehand.database import Executor, Record, sync_or_async
from minutehand.errors import KeyTakenError
from minutehand.events import emit
from minutehand.events.publish import publish
from minutehand.model.event import Name
from minutehand.model.row import FINISHED, State
from minutehand.operations import audit
from minutehand.waking import wake_ended
from minutehand.waking.sleep import request_for_jobs

NO_FACTS: Mapping[str, Any] = {}
EVENTS: Mapping[str, Name] = {
    "cancel": "cancelled",
    "promote": "promoted",
    "reschedule": "rescheduled",
    "retry": "retried",
    "edit": "edited",
}
# These make jobs due, or due earlier.
STARTING = ("promote", "reschedule", "retry", "replay")
KEY_IS_TAKEN = "another unfinished job has its key"
RETRYABLE = ("dead", "expired", "cancelled")
PAYLOAD_IS_ERASED = "its personal payload has been erased"

Parameters = Callable[[list[UUID]], dict[str, Any]]
Facts = Callable[[Record], Mapping[str, Any]]


@dataclass(frozen=True)
class Change:
    """The outcome of a change to one job.

    `requested` means that a running job will end at its next check. A `refused` change has the job's state, or None if
    its key is taken, and the reason. `new` is the job that a replay created.
    """

    id: UUID
    outcome: Literal["changed", "requested", "refused", "absent"]
    state: State | None = None
    reason: str = ""
    new: UUID | None = None


@sync_or_async
async def apply(
    executor: Executor,
    statement: str,
    ids: Sequence[UUID],
    parameters: dict[str, Any] | Parameters,
    *,
    actor: str | None = None,
    facts: Mapping[str, Any] | Facts = NO_FACTS,
) -> list[Change]:
    """Run a statement on jobs, write the audit entries and emit the events; return a Change for each distinct id.

    Everything is one transaction. If a key is taken, the jobs are tried one by one. `facts` go to the audit trail.
    """
    ids = list(dict.fromkeys(ids))
    values = parameters(ids) if callable(parameters) else parameters
    try:
        changed = await executor.retry_on_conflict(
            lambda: _write(executor, statement, ids, values, actor, facts)
        )
    except KeyTakenError:
        if len(ids) == 1:
            return [Change(ids[0], "refused", None, KEY_IS_TAKEN)]
        return [
            change
            for job_id in ids
            for change in await apply(executor, statement, [job_id], parameters, actor=actor, facts=facts)
        ]
    if statement in EVENTS:
        by = {} if actor is None else {"actor": actor}
        await publish(executor, [emit.row_event(EVENTS[statement], row, **by) for row in changed.values()])
    return await _report(executor, statement, ids, changed)


async def _write(
    executor: Executor,
    statement: str,
    ids: list[UUID],
    parameters: dict[str, Any],
    actor: str | None,
    facts: Mapping[str, Any] | Facts,
) -> dict[UUID, Record]:
    async with executor.transaction():
        rows = {row["id"]: row for row in await executor.run(statement, ids=ids, **parameters)}
        entries = [(job_id, facts(row) if callable(facts) else facts) for job_id, row in rows.items()]
        await audit.record_all(executor, statement, actor, entries, [row["tenant"] for row in rows.values()])
        if statement in STARTING and rows:
            moved = [row.get("new") or job_id for job_id, row in rows.items()]
            await request_for_jobs(executor, moved, retried=statement == "retry")
        await wake_ended(executor, rows.values())
    return rows


async def _report(
    executor: Executor, statement: str, ids: list[UUID], changed: Mapping[UUID, Record]
) -> list[Change]:
    rest = [job_id for job_id in ids if job_id not in changed]
    rows = {row["id"]: row for row in await executor.run("get_states", ids=rest)} if rest else {}
    return [
        Change(job_id, "changed", new=changed[job_id].get("new"))
        if job_id in changed
        else _refused(statement, job_id, rows.get(job_id))
        for job_id in ids
    ]


def _refused(statement: str, job_id: UUID, row: Record | None) -> Change:
    if row is None:
        return Change(job_id, "absent", None, "job not found")
    return Change(job_id, "refused", row["state"], _reason(statement, row["state"], row))


def _reason(statement: str, state: State, row: Record) -> str:
    if statement == "replay" and state not in FINISHED:
        return f"the job is {state}; only finished jobs can be replayed"
    if state == "running":
        return "the job is running"
    if statement == "replay" or (statement == "retry" and state in RETRYABLE):
        return PAYLOAD_IS_ERASED if row["cleared"] else KEY_IS_TAKEN
    if statement == "retry":
        return f"the job is {state}; only dead, expired and cancelled jobs can be retried"
    if state in FINISHED:
        return f"the job is already {state}"
    if row["cancelling"] is not None:
        return "its cancellation was already requested"
    return f"the job is {state} and has no attempts left, or it changed meanwhile; check it and try again"
