"""Enqueue: insert jobs as rows that become visible at a given time."""

from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any, Unpack, overload
from uuid import uuid4

from minutehand import middleware
from minutehand.database import AsyncConnectable, Connectable, Executor, executed, iterated
from minutehand.errors import InvalidJobError, KeyTakenError
from minutehand.events import emit
from minutehand.events.publish import publish
from minutehand.model.enqueued import Enqueued, Rejected
from minutehand.model.job_options import JobOptions
from minutehand.model.key import Key
from minutehand.model.new_job import NewJob, OnConflict, UniqueWhile, parameters
from minutehand.model.retry import Retry
from minutehand.settings import encrypts

Item = tuple[int, NewJob | InvalidJobError]


if TYPE_CHECKING:

    @overload
    def enqueue(
        kind: str, payload: object = None, *, connection: AsyncConnectable, **options: Unpack[JobOptions]
    ) -> Coroutine[Any, Any, Enqueued]: ...

    @overload
    def enqueue(
        kind: str,
        payload: object = None,
        *,
        connection: Connectable | None = None,
        **options: Unpack[JobOptions],
    ) -> Enqueued: ...


def enqueue(
    kind: str,
    payload: object = None,
    *,
    queue: str | None = None,
    key: Key | None = None,
    run_at: datetime | None = None,
    delay: timedelta | None = None,
    priority: int | None = None,
    max_attempts: int | None = None,
    retry: Retry | None = None,
    timeout: timedelta | None = None,
    headers: Mapping[str, str] | None = None,
    every: str | timedelta | None = None,
    zone: str | None = None,
    personal: bool | None = None,
    tenant: str | None = None,
    on_conflict: OnConflict = "replace",
    unique_while: UniqueWhile | None = None,
    unique_for: timedelta | None = None,
    debounce: timedelta | None = None,
    debounce_max: timedelta | None = None,
    throttle: timedelta | None = None,
    expires: timedelta | None = None,
    on_dead: NewJob | str | None = None,
    connection: Connectable | AsyncConnectable | None = None,
) -> Enqueued | Coroutine[Any, Any, Enqueued]:
    """Enqueue one job. With your own `connection` it commits or rolls back with your data.

    With an async connection this returns an awaitable: `await enqueue(..., connection=session)`.
    `on_conflict` decides what happens if `key` has an upcoming job: "replace" it, "ignore" the new job, "raise"
    KeyTakenError, or "merge" the payloads. A running job never changes: the new job runs after it, unless
    `unique_while` is "running". `unique_for` reserves the key for that long, even if the job finishes earlier.
    `debounce` delays the job until it has not been enqueued for that long, at most `debounce_max` in all. `throttle`
    delays it until that long after the previous one. A job that has not started when `expires` has passed since
    `run_at` never runs, and ends as expired. `on_dead` is a kind or a job: if this job dies, it is created in the same
    statement. Raises InvalidJobError, and writes nothing, if the job breaks a rule.
    """
    given = NewJob(
        kind=kind,
        payload=payload,
        queue=queue,
        key=key,
        run_at=run_at,
        delay=delay,
        priority=priority,
        max_attempts=max_attempts,
        retry=retry,
        timeout=timeout,
        headers=headers,
        every=every,
        zone=zone,
        personal=personal,
        tenant=tenant,
        on_conflict=on_conflict,
        unique_while=unique_while,
        unique_for=unique_for,
        debounce=debounce,
        debounce_max=debounce_max,
        throttle=throttle,
        expires=expires,
        on_dead=on_dead,
    )
    result: Enqueued | Coroutine[Any, Any, Enqueued] = executed(
        connection, lambda executor: _enqueue(executor, given)
    )
    return result


async def _enqueue(executor: Executor, given: NewJob) -> Enqueued:
    job = middleware.prepare(given)
    (parameters,) = await _parameters(executor, [job])
    (record,) = await executor.run("enqueue", **parameters)
    result = Enqueued(**record)
    await publish(executor, [emit.enqueued(job, result)])
    return result


if TYPE_CHECKING:

    @overload
    def enqueue_many(
        jobs: Iterable[NewJob],
        *,
        on_conflict: OnConflict = "replace",
        connection: AsyncConnectable,
        chunk: int = 5000,
    ) -> AsyncIterator[Enqueued | Rejected]: ...

    @overload
    def enqueue_many(
        jobs: Iterable[NewJob],
        *,
        on_conflict: OnConflict = "replace",
        connection: Connectable | None = None,
        chunk: int = 5000,
    ) -> Iterator[Enqueued | Rejected]: ...


def enqueue_many(
    jobs: Iterable[NewJob],
    *,
    on_conflict: OnConflict = "replace",
    connection: Connectable | AsyncConnectable | None = None,
    chunk: int = 5000,
) -> Iterator[Enqueued | Rejected] | AsyncIterator[Enqueued | Rejected]:
    """Enqueue any number of jobs with COPY, and yield the result of each in order.

    A job's `on_conflict` takes precedence over the argument. One chunk is in memory at a time; each chunk is a
    transaction, or a savepoint of yours. This is a generator, with an async connection an async one: jobs are enqueued
    only as you iterate. A chunk that the database refuses is split in halves until the faulty job is alone.
    """
    results: Iterator[Enqueued | Rejected] | AsyncIterator[Enqueued | Rejected] = iterated(
        connection, lambda executor: _enqueue_chunks(executor, jobs, on_conflict, chunk)
    )
    return results


async def _enqueue_chunks(
    executor: Executor, jobs: Iterable[NewJob], on_conflict: OnConflict, chunk: int
) -> AsyncGenerator[Enqueued | Rejected, None]:
    numbered = enumerate(middleware.prepare_all(jobs, on_conflict))
    while items := list(islice(numbered, chunk)):
        for result in await _enqueue_chunk(executor, items, on_conflict):
            yield result


async def _enqueue_chunk(
    executor: Executor, items: Sequence[Item], on_conflict: OnConflict
) -> Sequence[Enqueued | Rejected]:
    try:
        return await _copy(executor, items, on_conflict)
    except (InvalidJobError, KeyTakenError) as error:
        if len(items) == 1:
            return [Rejected(error, items[0][0])]
    middle = len(items) // 2
    halves = items[:middle], items[middle:]
    return [result for half in halves for result in await _enqueue_chunk(executor, half, on_conflict)]


async def _copy(executor: Executor, items: Sequence[Item], on_conflict: OnConflict) -> list[Enqueued]:
    rows = await _parameters(executor, [job for _, job in items])
    load = uuid4()
    numbered = zip((ordinal for ordinal, _ in items), rows, strict=True)
    async with executor.transaction():
        await executor.copy("copy_incoming", ((load, ordinal, *row.values()) for ordinal, row in numbered))
        records = await executor.run("enqueue_incoming", load=load, on_conflict=on_conflict)
    results = [Enqueued(**record) for record in records]
    jobs = {ordinal: job for ordinal, job in items if isinstance(job, NewJob)}
    await publish(executor, (emit.enqueued(jobs[each.ordinal], each) for each in results))
    return results


async def _parameters(executor: Executor, jobs: Sequence[NewJob | InvalidJobError]) -> list[dict[str, Any]]:
    """Return the statement parameters of jobs, with their payloads encrypted if this process has a key."""
    encrypting = encrypts()
    timed = any(isinstance(job, NewJob) and (encrypting or job.every is not None) for job in jobs)
    now: datetime | None = (await executor.run("clock"))[0]["now"] if timed else None

    def clock() -> datetime:
        assert now is not None
        return now

    plain = [parameters(job, clock) for job in jobs]
    if not encrypting:
        return plain
    # Imported only when used, for the sake of cold starts.
    from minutehand.encryption.envelope import encrypt_parameters

    tenant = executor.tenant
    # The key may come from a service.
    return await executor.block(lambda: [encrypt_parameters(each, clock, tenant) for each in plain])
