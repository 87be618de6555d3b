"""Enqueue: insert jobs as rows that become visible at a given time."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from itertools import islice
from typing import Any
from uuid import uuid4

from minutehand import middleware
from minutehand.database import Connection, Database, database_of
from minutehand.errors import InvalidJobError, KeyTakenError
from minutehand.events import emit
from minutehand.events.publish import publish
from minutehand.model.enqueued import Enqueued, Rejected
from minutehand.model.key import Key
from minutehand.model.new_job import NewJob, OnConflict, UniqueWhile, parameters
from minutehand.model.retry import Retry
from minutehand.settings import encrypts


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
    every: str | None = None,
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
    connection: Connection | Database | None = None,
) -> Enqueued:
    """Enqueue one job. With your own `connection` it commits or rolls back with your data.

    `on_conflict` decides what happens if `key` has an upcoming job: "replace" it, "ignore" the new job, "raise"
    KeyTakenError, or "merge" the payloads. A running job never changes: the new job runs after it, unless
    `unique_while` is "running". `unique_for` reserves the key for that long, even if the job finishes earlier.
    `debounce` delays the job until it has not been enqueued for that long, at most `debounce_max` in all. `throttle`
    delays it until that long after the previous one. A job that has not started when `expires` has passed since
    `run_at` never runs, and ends as expired. `on_dead` is a kind or a job: if this job dies, it is created in the same
    statement. Raises InvalidJobError, and writes nothing, if the job breaks a rule.
    """
    job = middleware.prepare(
        NewJob(
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
    )
    database = database_of(connection)
    (record,) = database.run("enqueue", **_parameters(job, database, lambda: _clock(database)))
    result = Enqueued(**record)
    publish(database, [emit.enqueued(job, result)])
    return result


def enqueue_many(
    jobs: Iterable[NewJob],
    *,
    on_conflict: OnConflict = "replace",
    connection: Connection | Database | None = None,
    chunk: int = 5000,
) -> Iterator[Enqueued | Rejected]:
    """Enqueue any number of jobs with COPY, and yield the result of each in order.

    A job's `on_conflict` takes precedence over the argument. One chunk is in memory at a time; each chunk is a
    transaction, or a savepoint of yours. This is a generator: jobs are enqueued only as you iterate. A chunk that the
    database refuses is split in halves until the faulty job is alone.
    """
    database = database_of(connection)
    numbered = enumerate(middleware.prepare_all(jobs))
    while items := list(islice(numbered, chunk)):
        yield from _enqueue_chunk(database, items, on_conflict)


def _enqueue_chunk(
    database: Database, items: Sequence[tuple[int, NewJob | InvalidJobError]], on_conflict: OnConflict
) -> Iterator[Enqueued | Rejected]:
    try:
        yield from _copy(database, items, on_conflict)
    except (InvalidJobError, KeyTakenError) as error:
        if len(items) == 1:
            yield Rejected(error, items[0][0])
            return
        middle = len(items) // 2
        yield from _enqueue_chunk(database, items[:middle], on_conflict)
        yield from _enqueue_chunk(database, items[middle:], on_conflict)


def _copy(
    database: Database, items: Sequence[tuple[int, NewJob | InvalidJobError]], on_conflict: OnConflict
) -> list[Enqueued]:
    now = cache(lambda: _clock(database))
    rows = [(ordinal, _parameters(job, database, now)) for ordinal, job in items]
    load = uuid4()
    with database.transaction():
        database.copy("copy_incoming", ((load, ordinal, *row.values()) for ordinal, row in rows))
        records = database.run("enqueue_incoming", load=load, on_conflict=on_conflict)
    results = [Enqueued(**record) for record in records]
    jobs = {ordinal: job for ordinal, job in items if isinstance(job, NewJob)}
    publish(database, (emit.enqueued(jobs[each.ordinal], each) for each in results))
    return results


def _parameters(
    job: NewJob | InvalidJobError, database: Database, clock: Callable[[], datetime]
) -> dict[str, Any]:
    """Return the statement parameters of a job, with its payload encrypted if this process has a key."""
    clear = parameters(job, clock)
    if not encrypts():
        return clear
    # Imported only when used, for the sake of cold starts.
    from minutehand.encryption.envelope import encrypt_parameters

    return encrypt_parameters(clear, clock, getattr(database, "tenant", ""))


def _clock(database: Database) -> datetime:
    now: datetime = database.run("clock")[0]["now"]
    return now
