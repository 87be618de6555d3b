"""Enqueue: a job becomes a row, visible from its moment on."""

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
    connection: Connection | Database | None = None,
) -> Enqueued:
    """Enqueue one job; with your own `connection` it commits or rolls back with your data.

    `on_conflict` says what happens when `key` has an upcoming job: replace it, ignore the new one, raise
    KeyTakenError, or merge the payloads. A running job is never touched: the new one runs after it, unless
    `unique_while` is "running". `unique_for` takes the key for that long, whatever becomes of the job. `debounce` has
    the job wait until nobody has enqueued it for that long, at most `debounce_max` in all; `throttle` has it wait
    until that long after the one before. Raises InvalidJobError for what cannot be a job, and writes nothing then.
    """
    job = NewJob(
        kind, payload, queue, key, run_at, delay, priority, max_attempts, retry, timeout, headers, every, zone,
        personal, tenant, on_conflict, unique_while, unique_for, debounce, debounce_max, throttle,
    )  # fmt: skip
    job, database = middleware.prepare(job), database_of(connection)
    row = database.run("enqueue", **_said(job, database, lambda: _clock(database)))[0]
    became = Enqueued(id=row["id"], outcome=row["outcome"], visible=row["visible"])
    publish(database, [emit.enqueued(job, became)])
    return became


def enqueue_many(
    jobs: Iterable[NewJob],
    *,
    on_conflict: OnConflict = "replace",
    connection: Connection | Database | None = None,
    chunk: int = 5000,
) -> Iterator[Enqueued | Rejected]:
    """Enqueue any number of jobs through COPY, and yield in order what became of each.

    A job's own `on_conflict` goes before that of the call. Holds one chunk in memory; each chunk is a transaction of
    its own (or a savepoint of yours). It works as it is read: what you do not iterate is not enqueued. A chunk that
    the database refuses is halved until the item at fault is alone.
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
    rows = [(ordinal, _said(job, database, now)) for ordinal, job in items]
    load = uuid4()
    with database.transaction():
        database.copy("copy_incoming", ((load, ordinal, *said.values()) for ordinal, said in rows))
        answers = database.run("enqueue_incoming", load=load, on_conflict=on_conflict)
    became = [Enqueued(a["id"], a["outcome"], a["visible"], a["ordinal"]) for a in answers]
    jobs = {ordinal: job for ordinal, job in items if isinstance(job, NewJob)}
    publish(database, (emit.enqueued(jobs[each.ordinal], each) for each in became))
    return became


def _said(job: NewJob | InvalidJobError, database: Database, clock: Callable[[], datetime]) -> dict[str, Any]:
    """Return the parameters of a job, its payload encrypted if this process has a key."""
    said = parameters(job, clock)
    if not encrypts():
        return said
    from minutehand.encryption.envelope import (
        sealed,  # here, so that who encrypts nothing does not pay for it
    )

    return sealed(said, clock, getattr(database, "tenant", ""))


def _clock(database: Database) -> datetime:
    moment: datetime = database.run("clock")[0]["now"]
    return moment
