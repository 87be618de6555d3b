"""Enqueue: insert jobs as rows that become visible at a given time.

`minutehand` imports this module in every process, and a worker may enqueue nothing: the rest is imported at the first
call.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Coroutine, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Unpack, overload
from uuid import UUID

from minutehand.database import executed, iterated_chunks

if TYPE_CHECKING:
    from minutehand.database import AsyncConnectable, Connectable
    from minutehand.model.after import After, AfterFailure
    from minutehand.model.enqueued import Enqueued, Rejected
    from minutehand.model.job_options import JobOptions
    from minutehand.model.key import Key
    from minutehand.model.new_job import NewJob, OnConflict, UniqueWhile
    from minutehand.model.retry import Retry

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
    group: Key | None = None,
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
    batch: UUID | None = None,
    after: After | None = None,
    after_failure: AfterFailure | None = None,
    connection: Connectable | AsyncConnectable | None = None,
) -> Enqueued | Coroutine[Any, Any, Enqueued]:
    """Enqueue one job. With your own `connection` it commits or rolls back with your data.

    With an async connection this returns an awaitable: `await enqueue(..., connection=session)`.
    `on_conflict` decides what happens if `key` has an upcoming job: "replace" it, "ignore" the new job, "raise"
    KeyTakenError, or "merge" the payloads. A running job never changes: the new job runs after it, unless
    `unique_while` is "running". `unique_for` reserves the key for that long, even if the job finishes earlier.
    `debounce` delays the job until it has not been enqueued for that long, at most `debounce_max` in all. `throttle`
    delays it until that long after the previous one. The jobs of a `group` run one at a time, unless a limit per group
    allows more. A job that has not started when `expires` has passed since
    `run_at` never runs, and ends as expired. `on_dead` is a kind or a job: if this job dies, it is created in the same
    statement. `batch` is the id of the batch that the job belongs to. The job is due when those of `after` have ended,
    and `after_failure` decides what happens if one of them did not succeed: "cancel" the job, which is the default,
    "run" it, or let it "wait" until a retry succeeds. Raises InvalidJobError, and writes nothing, if the job breaks a
    rule.
    """
    from minutehand.enqueuing.one import enqueue_one
    from minutehand.model.new_job import NewJob

    given = NewJob(
        kind=kind,
        payload=payload,
        queue=queue,
        key=key,
        group=group,
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
        batch=batch,
        after=after,
        after_failure=after_failure,
    )
    result: Enqueued | Coroutine[Any, Any, Enqueued] = executed(
        connection, lambda executor: enqueue_one(executor, given)
    )
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
    """Enqueue any number of jobs, many with each statement, and yield the result of each in order.

    Nothing is enqueued until you iterate over the result: use `list(enqueue_many(jobs))` or a loop. With an async
    connection, use `async for`. A job's `on_conflict` takes precedence over the argument. One chunk is in memory at a
    time; each chunk is a transaction, or a savepoint of yours. A chunk that the database refuses is split in halves
    until the faulty job is alone.
    """
    from minutehand.enqueuing.bulk import enqueue_chunks

    results: Iterator[Enqueued | Rejected] | AsyncIterator[Enqueued | Rejected] = iterated_chunks(
        connection, lambda executor: enqueue_chunks(executor, jobs, on_conflict, chunk)
    )
    return results
