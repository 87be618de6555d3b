"""Enqueue: a job becomes a row, visible from its moment on."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, Literal
from uuid import UUID, uuid4

from minutehand.database import Connection, Database, ambient
from minutehand.errors import InvalidJobError, KeyTakenError, MinutehandError, PayloadError
from minutehand.payload import encode
from minutehand.retry import Retry
from minutehand.rules import sentence

OnConflict = Literal["replace", "ignore", "raise"]


@dataclass(frozen=True)
class NewJob:
    """A job to enqueue.

    What is left None comes from the kind's defaults, then from the table's. `run_at` is an aware moment, and one
    in the past means now; `delay` counts from now. `key` names one upcoming job of the queue.
    """

    kind: str
    payload: object = None
    queue: str | None = None
    key: str | None = None
    run_at: datetime | None = None
    delay: timedelta | None = None
    priority: int | None = None
    max_attempts: int | None = None
    retry: Retry | None = None
    timeout: timedelta | None = None
    headers: Mapping[str, str] | None = None


@dataclass(frozen=True)
class Enqueued:
    """What became of it: `created`, `replaced` the key's upcoming job, or `ignored` since that one stays.

    `id` is the job that will run, `visible` the moment from which it may. `ordinal` counts a bulk's items from 0.
    """

    id: UUID
    outcome: Literal["created", "replaced", "ignored"]
    visible: datetime
    ordinal: int = 0


@dataclass(frozen=True)
class Rejected:
    """An item of a bulk that no rule lets in; the others are not held up by it."""

    error: MinutehandError
    ordinal: int
    outcome: Literal["rejected"] = "rejected"


def enqueue(
    kind: str,
    payload: object = None,
    *,
    queue: str | None = None,
    key: str | None = None,
    run_at: datetime | None = None,
    delay: timedelta | None = None,
    priority: int | None = None,
    max_attempts: int | None = None,
    retry: Retry | None = None,
    timeout: timedelta | None = None,
    headers: Mapping[str, str] | None = None,
    on_conflict: OnConflict = "replace",
    connection: Connection | Database | None = None,
) -> Enqueued:
    """Enqueue one job; with your own `connection` it commits or rolls back with your data.

    `on_conflict` says what happens when `key` has an upcoming job: replace it, ignore the new one, or raise
    KeyTakenError. A running job is never touched: the new one runs after it. Raises InvalidJobError for what
    cannot be a job, and writes nothing then.
    """
    job = NewJob(kind, payload, queue, key, run_at, delay, priority, max_attempts, retry, timeout, headers)
    row = database_of(connection).run("enqueue", **_parameters(job), on_conflict=on_conflict)[0]
    return Enqueued(id=row["id"], outcome=row["outcome"], visible=row["visible"])


def enqueue_many(
    jobs: Iterable[NewJob],
    *,
    on_conflict: OnConflict = "replace",
    connection: Connection | Database | None = None,
    chunk: int = 5000,
) -> Iterator[Enqueued | Rejected]:
    """Enqueue any number of jobs through COPY, and yield in order what became of each.

    Holds one chunk in memory; each chunk is a transaction of its own (or a savepoint of yours). It works as it is
    read: what you do not iterate is not enqueued. A chunk that the database refuses is halved until the item at
    fault is alone.
    """
    database = database_of(connection)
    numbered = enumerate(jobs)
    while items := list(islice(numbered, chunk)):
        yield from _enqueue_chunk(database, items, on_conflict)


def database_of(connection: Connection | Database | None) -> Database:
    """Return the database behind what a caller passed: its own connection, a Database, or the environment's."""
    if connection is None:
        return ambient()
    return connection if isinstance(connection, Database) else Database.borrow(connection)


def check_moment(moment: Any) -> Any:
    """Return an aware moment, or None; raise InvalidJobError for one without a time zone."""
    _typed(moment, datetime, "moment_is_finite", "run_at is an aware datetime")
    if moment is not None and moment.utcoffset() is None:
        raise InvalidJobError(
            "moment_is_finite",
            "run_at has no time zone; say which one, as datetime(..., tzinfo=ZoneInfo(...))",
        )
    return moment


def _enqueue_chunk(
    database: Database, items: Sequence[tuple[int, NewJob]], on_conflict: OnConflict
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


def _copy(database: Database, items: Sequence[tuple[int, NewJob]], on_conflict: OnConflict) -> list[Enqueued]:
    rows = [(ordinal, _parameters(job)) for ordinal, job in items]
    load = uuid4()
    with database.transaction():
        database.copy(
            "copy_incoming", ((load, ordinal, *parameters.values()) for ordinal, parameters in rows)
        )
        answers = database.run("enqueue_incoming", load=load, on_conflict=on_conflict)
    return [Enqueued(a["id"], a["outcome"], a["visible"], a["ordinal"]) for a in answers]


def _parameters(job: NewJob) -> dict[str, Any]:
    """Return the statement's parameters in the order of COPY's columns; check what only Python can."""
    return {
        "kind": _typed(job.kind, str, "kind_is_a_name"),
        "payload": encode(job.payload),
        "queue": _typed(job.queue, str, "queue_is_a_name"),
        "key": _typed(job.key, str, "key_fits"),
        "run_at": check_moment(job.run_at),
        "delay": _typed(job.delay, timedelta, "delay_is_not_negative", "delay is a timedelta"),
        "priority": _typed(job.priority, int, "priority_is_0_to_9"),
        "max_attempts": _typed(job.max_attempts, int, "max_attempts_is_at_least_1"),
        "retry": _retry(job.retry),
        "timeout": _typed(job.timeout, timedelta, "timeout_is_positive", "timeout is a timedelta"),
        "headers": _headers(job.headers),
    }


def _typed(value: Any, kind: type, rule: str, says: str | None = None) -> Any:
    if value is not None and (not isinstance(value, kind) or isinstance(value, bool)):
        raise InvalidJobError(rule, f"{says or sentence(rule)}; this is {type(value).__name__}")
    if isinstance(value, int) and not -(2**31) <= value < 2**31:
        raise InvalidJobError(rule, sentence(rule))
    return value


def _headers(headers: Any) -> str | None:
    if headers is None:
        return None
    _typed(headers, Mapping, "headers_are_strings")
    try:
        return encode(dict(headers))
    except PayloadError:
        raise InvalidJobError("headers_are_strings", sentence("headers_are_strings")) from None


def _retry(retry: Any) -> str | None:
    if retry is None:
        return None
    _typed(retry, Retry, "retry_is_a_strategy", "retry is a minutehand.Retry")
    try:
        return json.dumps(retry.to_json(), allow_nan=False)
    except (TypeError, ValueError, AttributeError):
        raise InvalidJobError("retry_is_a_strategy", sentence("retry_is_a_strategy")) from None
