"""Bulk: enqueue chunks of jobs, those that are alike by one statement and others with COPY."""

from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any
from uuid import uuid4

from minutehand.database import Executor
from minutehand.enqueuing.parameters import statement_parameters
from minutehand.enqueuing.preparation import prepare_all
from minutehand.errors import InvalidJobError, KeyTakenError
from minutehand.events import emit
from minutehand.events.publish import publish
from minutehand.model.alike import ON_CONFLICT, Group, Part, grouped
from minutehand.model.enqueued import Enqueued, Rejected
from minutehand.model.event import Event
from minutehand.model.new_job import NewJob, OnConflict
from minutehand.model.uuid7 import uuid7s
from minutehand.settings import encrypts

Item = tuple[int, NewJob | InvalidJobError]


async def enqueue_chunks(
    executor: Executor, jobs: Iterable[NewJob], on_conflict: OnConflict, chunk: int
) -> AsyncGenerator[Sequence[Enqueued | Rejected], None]:
    """Enqueue jobs, each chunk in a transaction; yield the results of each chunk in order."""
    numbered = enumerate(prepare_all(jobs, on_conflict))
    while items := list(islice(numbered, chunk)):
        yield await _enqueue_chunk(executor, items, on_conflict)


async def _enqueue_chunk(
    executor: Executor, items: Sequence[Item], on_conflict: OnConflict
) -> Sequence[Enqueued | Rejected]:
    try:
        return await _write(executor, items, on_conflict)
    except (InvalidJobError, KeyTakenError) as error:
        if len(items) == 1:
            return [Rejected(error, items[0][0])]
    middle = len(items) // 2
    halves = items[:middle], items[middle:]
    return [result for half in halves for result in await _enqueue_chunk(executor, half, on_conflict)]


async def _write(executor: Executor, items: Sequence[Item], on_conflict: OnConflict) -> list[Enqueued]:
    """Write a chunk in one transaction: jobs that are alike by a statement for each part, others with COPY."""
    # COPY decides on a single job, so that a statement of many jobs need not accept all that enqueue accepts.
    alike = len(items) > 1 and on_conflict in ON_CONFLICT and not encrypts()
    groups = grouped([job for _, job in items]) if alike else None
    results = await (
        _copy(executor, items, on_conflict) if groups is None else _write_groups(executor, items, groups)
    )
    await publish(executor, _events(items, results))
    return results


def _events(items: Sequence[Item], results: Sequence[Enqueued]) -> Iterator[Event]:
    jobs = {ordinal: job for ordinal, job in items if isinstance(job, NewJob)}
    yield from (emit.enqueued(jobs[each.ordinal], each) for each in results)


async def _write_groups(executor: Executor, items: Sequence[Item], groups: Sequence[Group]) -> list[Enqueued]:
    parts: list[Part] = []

    def each() -> Iterator[dict[str, Any]]:
        for group in groups:
            for part in group.parts():
                parts.append(part)
                yield part.parameters(ids, clock["now"])

    async with executor.transaction():
        (clock,) = await executor.run("clock")
        ids = uuid7s(clock["now"], len(items))
        records = await executor.execute_each("enqueue_alike", each())
    visible = [clock["now"]] * len(items)
    for part, record in zip(parts, records, strict=True):
        for place, time in zip(part.places, part.visible(record["moment"]), strict=True):
            visible[place] = time
    return [
        Enqueued(job_id, "created", time, ordinal)
        for job_id, time, (ordinal, _) in zip(ids, visible, items, strict=True)
    ]


async def _copy(executor: Executor, items: Sequence[Item], on_conflict: OnConflict) -> list[Enqueued]:
    rows = await statement_parameters(executor, [job for _, job in items])
    load = uuid4()
    numbered = zip((ordinal for ordinal, _ in items), rows, strict=True)
    async with executor.transaction():
        await executor.copy("copy_incoming", ((load, ordinal, *row.values()) for ordinal, row in numbered))
        records = await executor.run("enqueue_incoming", load=load, on_conflict=on_conflict)
    return [Enqueued(**record) for record in records]
