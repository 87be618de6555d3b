"""Bulk: enqueue chunks of jobs, those that are alike by one statement and others with COPY."""

from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import Any
from uuid import UUID, uuid4

from minutehand import waking
from minutehand.database import Executor
from minutehand.enqueuing.parameters import statement_parameters
from minutehand.enqueuing.preparation import prepare_all
from minutehand.errors import InvalidJobError, KeyTakenError
from minutehand.events import emit
from minutehand.events.publish import publish
from minutehand.model.alike import ACCEPTED, Group, Part, grouped
from minutehand.model.enqueued import Enqueued, Rejected
from minutehand.model.event import Event
from minutehand.model.new_job import NewJob, OnConflict
from minutehand.model.uuid7 import uuid7s
from minutehand.settings import encrypts

Job = NewJob | InvalidJobError
# Until a job has its id.
NO_ID = UUID(int=0)


class _Results:
    """The results of a chunk. Each is created when it is read, because most callers read it once."""

    def __init__(self, first: int, ids: Sequence[UUID], visible: Sequence[datetime]) -> None:
        """Take the results of jobs that are numbered from `first`."""
        self._first, self._ids, self._visible = first, ids, visible

    def __iter__(self) -> Iterator[Enqueued]:
        for ordinal, (job_id, time) in enumerate(zip(self._ids, self._visible, strict=True), self._first):
            yield Enqueued.of_created(job_id, time, ordinal)


async def enqueue_chunks(
    executor: Executor, jobs: Iterable[NewJob], on_conflict: OnConflict, chunk: int
) -> AsyncGenerator[Iterable[Enqueued | Rejected], None]:
    """Enqueue jobs, each chunk in a transaction; yield the results of each chunk in order."""
    prepared, first = prepare_all(jobs, on_conflict), 0
    while part := list(islice(prepared, chunk)):
        yield await _enqueue_chunk(executor, part, first, on_conflict)
        first += len(part)


async def _enqueue_chunk(
    executor: Executor, jobs: Sequence[Job], first: int, on_conflict: OnConflict
) -> Iterable[Enqueued | Rejected]:
    """Enqueue a chunk, whose jobs are numbered from `first`."""
    try:
        return await _write(executor, jobs, first, on_conflict)
    except (InvalidJobError, KeyTakenError) as error:
        if len(jobs) == 1:
            _add_received(error, jobs[0])
            return [Rejected(error, first)]
    middle = len(jobs) // 2
    halves = (jobs[:middle], first), (jobs[middle:], first + middle)
    return [
        result
        for half, start in halves
        for result in await _enqueue_chunk(executor, half, start, on_conflict)
    ]


def _add_received(error: Exception, job: Job) -> None:
    """COPY fails without the value that the database rejected; `Executor.run` does this for statements."""
    if isinstance(error, InvalidJobError) and isinstance(job, NewJob):
        # Imported here, because it is needed for errors only.
        from minutehand.model.received import add_received

        add_received(error, vars(job))


async def _write(
    executor: Executor, jobs: Sequence[Job], first: int, on_conflict: OnConflict
) -> Iterable[Enqueued]:
    """Write a chunk in one transaction: jobs that are alike by a statement for each part, others with COPY."""
    # COPY decides on a single job, so that a statement of many jobs need not accept all that enqueue accepts.
    alike = len(jobs) > 1 and on_conflict in ACCEPTED and not encrypts()
    groups = grouped(jobs) if alike else None
    async with waking.transaction(executor):
        results = await (
            _copy(executor, jobs, first, on_conflict)
            if groups is None
            else _write_groups(executor, len(jobs), first, groups)
        )
        await waking.wake(executor, results)
    await publish(executor, _events(jobs, first, results))
    return results


def _events(jobs: Sequence[Job], first: int, results: Iterable[Enqueued]) -> Iterator[Event]:
    for each in results:
        job = jobs[each.ordinal - first]
        if isinstance(job, NewJob):
            yield emit.enqueued(job, each)


async def _write_groups(executor: Executor, count: int, first: int, groups: Sequence[Group]) -> _Results:
    parts: list[tuple[Part, list[UUID]]] = []

    def each() -> Iterator[dict[str, Any]]:
        for group in groups:
            for part in group.parts():
                # Not before, so that the database already works on other parts.
                parts.append((part, made := uuid7s(clock["now"], part.places)))
                yield part.parameters(made, clock["now"])

    async with executor.transaction():
        (clock,) = await executor.run("clock")
        records = await executor.execute_each("enqueue_alike", each())
    ids, visible = [NO_ID] * count, [clock["now"]] * count
    for (part, made), record in zip(parts, records, strict=True):
        for place, job_id, time in zip(part.places, made, part.visible(record["moment"]), strict=True):
            ids[place], visible[place] = job_id, time
    return _Results(first, ids, visible)


async def _copy(
    executor: Executor, jobs: Sequence[Job], first: int, on_conflict: OnConflict
) -> list[Enqueued]:
    rows = await statement_parameters(executor, jobs)
    load = uuid4()
    async with executor.transaction():
        numbered = enumerate(rows, first)
        await executor.copy("copy_incoming", ((load, ordinal, *row.values()) for ordinal, row in numbered))
        records = await executor.run("enqueue_incoming", load=load, on_conflict=on_conflict)
    return [Enqueued(**record) for record in records]
