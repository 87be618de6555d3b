"""Why: the one reason why a job, or the earliest job of a queue, has not finished, with evidence and the next step."""

from dataclasses import asdict, replace
from datetime import tzinfo
from typing import Any
from uuid import UUID

from minutehand.database import Executor, Record, sync_or_async
from minutehand.errors import ForbiddenError, NotFoundError
from minutehand.model.control import SCOPE, Control
from minutehand.model.row import FINISHED, Row
from minutehand.queries.jobs import get, get_by_key
from minutehand.queries.why.evidence import (
    COUNTED,
    MANY,
    MAX_READ,
    Answer,
    Dispatcher,
    Evidence,
    Failing,
    Group,
    Line,
)
from minutehand.queries.why.limited import place_under_limit
from minutehand.queries.why.limits import effective
from minutehand.queries.why.reasons import answer

__all__ = ["Answer", "why", "why_key", "why_latest", "why_queue"]


@sync_or_async
async def why(executor: Executor, job_id: UUID, *, zone: tzinfo | None = None) -> Answer:
    """Return why a job has not finished, or how it finished.

    Times in the sentence are in the job's own time zone, else in `zone`, else in UTC. Raises NotFoundError if the job
    does not exist. A role that may not read the dispatcher's state gets an answer without it.
    """
    return answer(await _evidence(executor, await get(executor, job_id)), zone)


@sync_or_async
async def why_key(executor: Executor, queue: str, key: str, *, zone: tzinfo | None = None) -> Answer:
    """Return why the job with a key has not finished: the upcoming job, else the running one, else the last."""
    return answer(await _evidence(executor, await get_by_key(executor, queue, key)), zone)


@sync_or_async
async def why_queue(executor: Executor, queue: str, *, zone: tzinfo | None = None) -> Answer:
    """Return why the earliest unfinished job of a queue has not finished.

    It is the longest-overdue job, if any is due. Raises NotFoundError if all jobs are finished.
    """
    records = await executor.run("why_earliest", queue=queue)
    if not records:
        raise NotFoundError(f"queue {queue} has no unfinished job")
    return answer(await _evidence(executor, await get(executor, records[0]["id"])), zone)


@sync_or_async
async def why_latest(executor: Executor, *, zone: tzinfo | None = None) -> Answer:
    """Return why the longest-overdue job of any queue has not started.

    Jobs of paused queues come last. Raises NotFoundError if no job is due.
    """
    records = await executor.run("why_latest")
    if not records:
        raise NotFoundError("no job is due, so none is late")
    return answer(await _evidence(executor, await get(executor, records[0]["id"])), zone)


async def _evidence(executor: Executor, row: Row) -> Evidence:
    (clock,) = await executor.run("why_clock")
    known = Evidence(row=row, now=clock["now"], read_only=clock["read_only"])
    if row.state in FINISHED or row.state == "running":
        return known
    dispatcher = await _allowed(executor, "why_dispatcher", queue=row.queue)
    names = {name: getattr(row, name) or "" for name in SCOPE}
    controls = [Control(**each) for each in await _allowed(executor, "why_controls", **names)]
    pause = next((each for each in controls if each.paused), None)
    known = replace(
        known,
        pause=pause,
        paused_by=await _actor(executor, pause) if pause else None,
        limits=effective(controls, row, "limit"),
        rates=effective(controls, row, "rate"),
        group=await _group(executor, row) if row.group else None,
        line=await _line(executor, row) if row.state == "due" else None,
        failing=await _failing(executor, row) if row.state == "due" else None,
        awaited=await _awaited(executor, row) if row.after else (),
        dispatcher=Dispatcher(**dispatcher[0]) if dispatcher else None,
    )
    return replace(known, limited=await place_under_limit(executor, known)) if row.state == "due" else known


async def _group(executor: Executor, row: Row) -> Group | None:
    names = {"queue": row.queue, "tenant": row.tenant or "", "group": row.group}
    records = await _allowed(executor, "why_group", **names)
    return Group(**records[0]) if records else None


async def _awaited(executor: Executor, row: Row) -> tuple[tuple[UUID, str | None], ...]:
    return tuple((each["id"], each["state"]) for each in await executor.run("why_awaited", id=row.id))


async def _line(executor: Executor, row: Row) -> Line:
    (line,) = await executor.run(
        "why_line", id=row.id, queue=row.queue, priority=row.priority, visible=row.visible, limit=COUNTED
    )
    (pace,) = await executor.run("why_pace", queue=row.queue)
    (served,) = await executor.run("why_served", queue=row.queue)
    return Line(**line, **pace, **served)


async def _failing(executor: Executor, row: Row) -> Failing | None:
    found = await executor.run("why_failing", queue=row.queue, unfinished=MAX_READ)
    return Failing(**found[0]) if found and found[0]["jobs"] >= MANY else None


async def _actor(executor: Executor, pause: Control) -> str | None:
    scope = {name: asdict(pause)[name] for name in SCOPE}
    records = await _allowed(executor, "why_actor", **scope)
    return records[0]["actor"] if records else None


async def _allowed(executor: Executor, statement: str, **parameters: Any) -> list[Record]:
    """Return the rows of a statement; none if the role may not read them."""
    try:
        # A savepoint, if the caller has a transaction: an error would abort it.
        async with executor.transaction():
            return await executor.run(statement, **parameters)
    except ForbiddenError:
        return []
