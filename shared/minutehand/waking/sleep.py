"""Sleep: no polling. Wake-ups start a tick in the minutes that need one, and a sweep every few hours repairs the rest.

Every write that needs the dispatcher requests a wake-up before its commit, so that a crash leaves a useless wake-up and
never a job without one. Every tick requests the wake-up of the next time at which anything needs the dispatcher: due
jobs that wait, retries, ends of offers and leases, schedules. Idea: the minute buckets of field reports about databases
that a poll keeps awake; see docs/waking.md.
"""

import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from uuid import UUID

from minutehand.database import Database, Executor, sync_or_async
from minutehand.model.enqueued import Enqueued
from minutehand.model.failure import message_of
from minutehand.settings import sleeps
from minutehand.waking.mode import Wake
from minutehand.waking.unrequested import unrequested
from minutehand.waking.wakeups import wakeups

# A time in the past means now.
NOW = datetime.min.replace(tzinfo=UTC)

logger = logging.getLogger(__name__)
_trial: ContextVar[bool] = ContextVar("trial", default=False)


class SleepWake(Wake):
    """Requests the wake-ups of new jobs in their transaction."""

    precedes_commit = True

    def __init__(self) -> None:
        """Begin without jobs."""
        self._times: list[datetime] = []

    def add(self, jobs: Iterable[Enqueued]) -> bool:
        """Add jobs, except those that changed nothing; return whether there are any."""
        self._times = [job.visible for job in jobs if job.outcome != "ignored"]
        return bool(self._times)

    def add_unknown(self) -> None:
        """Add jobs of which nothing is known, except that some may be due."""
        self._times = [NOW]

    async def before_commit(self, executor: Executor) -> None:
        """Request the wake-ups of the jobs that were added last."""
        await request(executor, self._times)

    async def after_commit(self, executor: Executor) -> None:
        """Do nothing: the wake-ups exist."""


@sync_or_async
async def request(executor: Executor, times: Iterable[datetime | None]) -> None:
    """In mode sleep, request wake-ups for these times, in the open transaction and after its writes.

    A time in the past means now; None needs no wake-up. In other modes, only note that a tick was needed.
    """
    needed = _times(*times) if not _trial.get() else []
    if needed and not sleeps():
        unrequested.needed = True
    elif needed:
        now = (await executor.run("clock"))[0]["now"]
        await executor.block(lambda: wakeups().request(needed, now))


async def request_for_jobs(executor: Executor, ids: Sequence[UUID], *, retried: bool) -> None:
    """In mode sleep, request the wake-up of the first of these jobs; the ticks then request those of the others.

    A retry may unblock groups; then the wake-up is for now.
    """
    if not sleeps():
        unrequested.needed = True
        return
    (record,) = await executor.run("first_visible", ids=list(ids), retried=retried)
    await request(executor, [record["visible"]])


@contextmanager
def trial() -> Iterator[None]:
    """Request no wake-ups for writes that this block rolls back."""
    token = _trial.set(True)
    try:
        yield
    finally:
        _trial.reset(token)


def arrange_tick(database: Database, *, mode_changed: bool = False) -> bool:
    """At the end of a tick in mode sleep, request the next one; return whether its wake-ups exist.

    That is the next time at which anything needs it, and a watch over offers and leases. A tick cannot see the jobs of
    open transactions, whose wake-up it may be, and invocations of the mode before request no wake-ups: then the next
    tick is a minute later. So it is if anything fails; nothing is raised.
    """
    try:
        # First the locks, then a new snapshot: a transaction that has ended in between is visible.
        waits = mode_changed or database.run("has_other_writers")[0]["found"]
        (record,) = database.run("next_need")
        now, busy_until = record["now"], record["busy_until"]
        exist = wakeups().request(_times(record["needed"], now if waits else None), now)
        name, at = (wakeups().watch(busy_until, now) if busy_until else None) or (None, None)
        database.run("note_watch", name=name, at=at)
        failed = not exist or (busy_until is not None and name is None)
        database.run("note_wakeup", error=wakeups().failure or "unknown" if failed else None)
        return not failed
    except Exception as error:
        logger.error("the next wake-up is unknown: %s: %s", type(error).__name__, message_of(error))
        tick_again()
        return False


def arrange_work(database: Database) -> None:
    """In mode sleep, at the end of an invocation, request the next tick, and end the watches if no job is left.

    Never raises: the watch over the jobs of this invocation remains.
    """
    try:
        (record,) = database.run("next_need")
        if wakeups().request(_times(record["needed"]), record["now"]) and record["busy_until"] is None:
            wakeups().delete(watch["name"] for watch in database.run("end_watches"))
    except Exception as error:
        logger.error("the next wake-up is unknown: %s: %s", type(error).__name__, message_of(error))


def _times(*times: datetime | None) -> list[datetime]:
    return [time for time in times if time is not None]


def tick_again() -> None:
    """Request a wake-up of the next minute, by the clock of this process."""
    now = datetime.now(UTC)
    wakeups().request([now], now)


@contextmanager
def invocation(database: Database, *, ticks: bool = False) -> Iterator[None]:
    """In mode sleep, leave the database alone after an invocation, since an open connection keeps it awake.

    A worker requests the next wake-up. A dispatcher that fails is started again a minute later.
    """
    if not sleeps():
        yield
        return
    try:
        yield
        if not ticks:
            arrange_work(database)
    except Exception:
        if ticks:
            tick_again()
        raise
    finally:
        database.close()
