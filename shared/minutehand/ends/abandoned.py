"""Abandoned: end the jobs whose worker died in their last attempt, and those that expired before they started.

Recurring jobs get their next occurrence in the same statement, which waits for open transactions that enqueue the key.
"""

from collections.abc import Sequence
from datetime import datetime
from random import SystemRandom
from time import monotonic

from minutehand.database import Database, Record
from minutehand.database.lock_wait import LockWait, is_left
from minutehand.errors import BusyError
from minutehand.events import emit
from minutehand.events.publish import publish
from minutehand.model.occurrence import next_of

MAX_REAPED = 1000
# A tick waits for it.
MAX_EXPIRE_SECONDS = 2.0


def find_recurring(database: Database, now: datetime | None) -> list[Record]:
    """Return the recurring jobs that end, with the statement that ends each."""
    return database.run("ending_recurring", limit=MAX_REAPED, now=now)


def reap(database: Database, now: datetime | None, recurring: list[Record]) -> tuple[Record, ...]:
    """End jobs that have no attempt left as dead."""
    reaped = _end(database, "reap", now, recurring, LockWait())
    publish(database, (emit.row_event("dead", record, error_type="WorkerDied") for record in reaped))
    return reaped


def expire(database: Database, now: datetime | None, recurring: list[Record]) -> int:
    """End jobs that have expired before they started, in batches; return their number."""
    began, count, lock_wait = monotonic(), 0, LockWait()
    while monotonic() - began < MAX_EXPIRE_SECONDS:
        ended = _end(database, "expire", now, recurring, lock_wait)
        publish(database, (emit.row_event("expired", record) for record in ended))
        count += len(ended)
        if len(ended) < MAX_REAPED:
            break
        recurring = find_recurring(database, now)
    return count


def _end(
    database: Database, statement: str, now: datetime | None, recurring: list[Record], lock_wait: LockWait
) -> tuple[Record, ...]:
    """End a batch of jobs. If a key is kept by an open transaction, that job is left to the next tick.

    The others are then ended one by one, in random order, so that each is tried at some tick however many are kept.
    """
    own = [each for each in recurring if each["statement"] == statement]
    try:
        return _end_at_once(database, statement, now, own, lock_wait)
    except BusyError as error:
        if not is_left(error):
            raise
    ended = list(_end_at_once(database, statement, now, [], LockWait()))
    for each in SystemRandom().sample(own, len(own)) if len(own) > 1 else []:
        try:
            ended += _end_at_once(database, statement, now, [each], lock_wait)
        except BusyError as error:
            if not is_left(error):
                raise
            if lock_wait.is_over:
                break
    return tuple(ended)


def _end_at_once(
    database: Database,
    statement: str,
    now: datetime | None,
    recurring: Sequence[Record],
    lock_wait: LockWait,
) -> tuple[Record, ...]:
    """End a batch of jobs; recurring ones get their next occurrence, whose time is computed first."""
    nexts = [next_of(each["every"], each["zone"], each["nominal"], each["now"])[0] for each in recurring]
    ids = [each["id"] for each in recurring]

    def end(milliseconds: int) -> list[Record]:
        return database.run(
            statement, limit=MAX_REAPED, now=now, ids=ids, nexts=nexts, lock_wait=milliseconds
        )

    return tuple(lock_wait.run(end))
