"""Invocation: the jobs that a worker was invited for, and the next due jobs of their queue in the same slots."""

import logging
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from time import monotonic
from typing import Any

from minutehand.attempts.in_turn import FINISH_TIME, run_jobs
from minutehand.claim import claim, take
from minutehand.claimed_job import Job
from minutehand.database import Database
from minutehand.errors import MinutehandError
from minutehand.events import emit
from minutehand.handlers import Handlers
from minutehand.invocations.times import HandlerTimes
from minutehand.model.event import Hook
from minutehand.model.invitation import Invited, parse
from minutehand.model.outcome import Finish
from minutehand.model.slots import Slots
from minutehand.model.turns import Turns
from minutehand.model.worker import UNNAMED, Worker

logger = logging.getLogger(__name__)


class Invocation:
    """One invocation of a worker.

    `remaining` returns the time left, which becomes the lease. Jobs for which no time is left are released. Up to
    `concurrency` async jobs run at the same time.
    """

    def __init__(
        self,
        database: Database,
        handlers: Handlers,
        remaining: Callable[[], timedelta],
        grace: timedelta,
        hook: Hook = emit.ignore,
        worker: Worker = UNNAMED,
        concurrency: int = 1,
        times: HandlerTimes | None = None,
    ) -> None:
        """Run nothing yet. `times` are those of this process."""
        self._times = times or HandlerTimes()
        self._database, self._handlers, self._hook = database, handlers, hook
        self._worker, self._concurrency = worker, concurrency
        self._remaining, self._grace = remaining, grace + FINISH_TIME
        self._whole = self._lease
        # The seconds of the longest attempt at each kind, and when the slots of the latest jobs became free.
        self._seconds: dict[str, float] = {}
        self._freed: list[datetime] = []

    def run(self, invited: Invited) -> list[Finish]:
        """Run the offered jobs, or the next due job of the queue or queues that the event names."""
        lease = self._lease
        if lease <= FINISH_TIME:
            return []
        if invited.queues is None:
            return self._run(claim(self._database, invited.offers, lease, self._grace, self._worker))
        # Imported only when used, for the sake of cold starts.
        from minutehand.attempts.taker import take_in_turns

        turns = Turns(invited.queues)
        return self._run(take_in_turns(self._database, turns, 1, lease, self._grace, self._worker))

    def run_next(self, invited: Invited, most: int) -> list[Finish]:
        """Run the next due jobs of the queue of the offers in the slots of jobs that have ended, up to `most`.

        A job is taken only if the time left is enough for it.
        """
        done: list[Finish] = []
        while jobs := self._take_next(invited, most - len(done)):
            done += self._run(jobs)
        return done

    def store_times(self) -> None:
        """Store how long the kinds take. An error does not concern the jobs."""
        try:
            self._times.store(self._database, self._whole)
        except MinutehandError as error:
            logger.warning("the times of kinds were not stored: %s: %s", type(error).__name__, error)

    @property
    def _lease(self) -> timedelta:
        return self._remaining() - FINISH_TIME

    def _take_next(self, invited: Invited, most: int) -> list[Job]:
        """Take jobs in the slots that are left. An error does not concern the jobs that have ended."""
        if not invited.queue or not self._freed or most < 1 or self._lease <= FINISH_TIME:
            return []
        try:
            return self._take(invited, self._freed[:most])
        except MinutehandError as error:
            logger.warning("the worker takes no further jobs: %s: %s", type(error).__name__, error)
            return []

    def _take(self, invited: Invited, freed: Sequence[datetime]) -> list[Job]:
        lease = self._lease
        # As many as half of the time left is enough for.
        longest = max(self._seconds.values(), default=0.0)
        limit = max(1, min(len(freed), int(lease.total_seconds() / 2 / max(longest, 0.001))))
        otherwise = self._whole.total_seconds() / 2
        slots = Slots(freed=freed, kinds=invited.kinds, seconds=self._seconds, otherwise=otherwise)
        return take(
            self._database, invited.queue, limit, lease, self._grace, worker=self._worker, slots=slots
        )

    def _run(self, jobs: Sequence[Job]) -> list[Finish]:
        began = monotonic()
        end = began + self._lease.total_seconds()
        last_start = end - FINISH_TIME.total_seconds()

        def stopping() -> bool:
            # A local run that ends takes the time that was left.
            return monotonic() > last_start or self._lease <= FINISH_TIME

        finishes = run_jobs(jobs, self._handlers, stopping, end, self._hook, self._concurrency)
        for job in jobs:
            self._seconds[job.kind] = max(self._seconds.get(job.kind, 0.0), job.lease.ran)
        self._times.add(jobs, monotonic() - began)
        self._freed = _freed(jobs, finishes)
        return finishes


def run_event(
    database: Database,
    handlers: Handlers,
    event: dict[str, Any],
    remaining: Callable[[], timedelta],
    grace: timedelta,
    hook: Hook = emit.ignore,
    worker: Worker = UNNAMED,
    concurrency: int = 1,
) -> list[Finish]:
    """Run the jobs that an invocation event offers, or the next due job of the queue or queues that it names."""
    invocation = Invocation(database, handlers, remaining, grace, hook, worker, concurrency)
    return invocation.run(parse(event))


def _freed(jobs: Iterable[Job], finishes: Sequence[Finish]) -> list[datetime]:
    """Return when the slots of jobs became free; none if the time left was not enough for one of them.

    The slot of a claim that had lapsed is no longer the worker's.
    """
    if any(finish.ending == "released" for finish in finishes):
        return []
    now = monotonic()
    ended = [finish.at for job, finish in zip(jobs, finishes, strict=True) if job.lease.until > now]
    return [at for at in ended if at is not None]
