"""Work: claimed jobs are handled and finished, one after the other, by an invited worker or a resident one."""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from threading import Event as Flag
from time import monotonic
from typing import Any
from uuid import UUID

from minutehand.claim import claim, take
from minutehand.database import Database
from minutehand.errors import ConflictError, DatabaseError, UnreachableError
from minutehand.events import emit
from minutehand.events.publish import EventBuffer, publish
from minutehand.finish import finish
from minutehand.handle import handle
from minutehand.handlers import Handlers
from minutehand.job import Job
from minutehand.model.worker import UNNAMED, Worker
from minutehand.maintenance import run_maintenance
from minutehand.model.event import Hook
from minutehand.model.offer import Offer
from minutehand.model.outcome import Finish, Interrupted, Released

FINISH_TIME = timedelta(milliseconds=500)  # what a worker keeps of its time to write down how its job ended
MAINTENANCE_SECONDS = 60.0


class EventError(ValueError):
    """A worker's event is neither `{"offers": [[id, ack], ...]}` nor `{"queue": name}`."""


def answer(
    database: Database, handlers: Handlers, event: dict[str, Any], remaining: Callable[[], timedelta],
    grace: timedelta, observer: Hook = emit.ignore, worker: Worker = UNNAMED,
) -> list[Finish]:  # fmt: skip
    """Answer an invitation: claim what it offers, or the next due job of its queue, and work it off.

    `remaining` tells the invocation's time left, which becomes the lease. What no time is left for is given back.
    """
    offers, queue = parse(event)
    lease = remaining() - FINISH_TIME
    if lease <= FINISH_TIME:
        return []
    grace += FINISH_TIME
    jobs = (
        claim(database, offers, lease, grace, worker)
        if queue is None
        else take(database, queue, 1, lease, grace, worker=worker)
    )
    end = monotonic() + (remaining() - FINISH_TIME).total_seconds()
    return run_jobs(jobs, handlers, lambda: monotonic() > end - FINISH_TIME.total_seconds(), end, observer)


def run_jobs(
    jobs: Sequence[Job], handlers: Handlers, stopping: Callable[[], bool], end: float = math.inf,
    observer: Hook = emit.ignore,
) -> list[Finish]:  # fmt: skip
    """Handle and finish jobs in order; once `stopping`, give back the rest, which costs them no attempt.

    So is what the time is too short for, judged by its timeout or by the longest before it; `end` is the worker's
    last monotonic second. An interrupt gives back the job it interrupts, too; after any other error the job in hand
    keeps its claim, and comes back when that lapses.
    """
    if not jobs:
        return []
    gathering = EventBuffer(jobs[0].database, observer, end + FINISH_TIME.total_seconds() / 2)
    try:
        return _work_through(jobs, handlers, stopping, end, gathering)
    finally:
        gathering.send()


def _work_through(
    jobs: Sequence[Job],
    handlers: Handlers,
    stopping: Callable[[], bool],
    end: float,
    observer: Hook,
) -> list[Finish]:
    endings: list[Finish] = []
    longest = 0.0
    for place, job in enumerate(jobs):
        began = monotonic()
        if stopping() or (place > 0 and not _fits(job, longest, end - began)):
            endings.append(_release(job, observer))
            continue
        try:
            endings.append(_work_off(job, jobs[place + 1 :], handlers, end, observer))
        except BaseException as error:
            _release_quietly(jobs[place if isinstance(error, Interrupted) else place + 1 :], observer)
            raise
        longest = max(longest, monotonic() - began)
    return endings


def work(
    database: Database, handlers: Handlers, stop: Flag, *, queue: str = "default", chunk: int = 10,
    lease: timedelta = timedelta(minutes=5), grace: timedelta = timedelta(seconds=2),
    idle: timedelta = timedelta(seconds=1), drain: bool = False, observer: Hook = emit.ignore,
    worker: Worker = UNNAMED,
) -> int:  # fmt: skip
    """Work a queue off until `stop` is set, or with `drain` until nothing is due; return how many jobs were handled.

    Takes `chunk` jobs at a time and looks again after `idle` when there was none.
    """
    handled, upkept = 0, -math.inf
    with _telling_when_halted(database, queue, observer):
        while not stop.is_set():
            if monotonic() - upkept > MAINTENANCE_SECONDS:
                run_maintenance(database)
                upkept = monotonic()
            jobs = take(database, queue, chunk, lease, grace, worker=worker)
            endings = run_jobs(jobs, handlers, stop.is_set, hook=observer)
            handled += sum(ending.ending not in ("released", "lost") for ending in endings)
            if not jobs and (drain or stop.wait(idle.total_seconds())):
                break
    return handled


@contextmanager
def _telling_when_halted(database: Database, queue: str, observer: Hook) -> Iterator[None]:
    """Tell that the worker stops for good; what passes, such as a server that is away, its caller may wait for."""
    try:
        yield
    except Exception as error:
        if not isinstance(error, (UnreachableError, ConflictError)):
            event = emit.halted(queue, error)
            observer(event)
            publish(database, [event])
        raise


def parse(event: dict[str, Any]) -> tuple[list[Offer], str | None]:
    """Return an event's offers, or the queue to take from; raise EventError for anything else."""
    match event:
        case {"offers": pairs}:
            return _offers(pairs), None
        case {"queue": str(queue)}:
            return [], queue
    raise EventError('the event is neither {"offers": [[id, ack], ...]} nor {"queue": name}')


def _offers(pairs: Any) -> list[Offer]:
    try:
        return [Offer(UUID(job_id), UUID(ack)) for job_id, ack in pairs]
    except (TypeError, ValueError, AttributeError) as error:
        raise EventError(f"offers are a list of [id, ack] pairs of UUIDs: {error}") from None


def _fits(job: Job, longest: float, left: float) -> bool:
    return left >= (longest if job.timeout is None else job.timeout.total_seconds())


def _release(job: Job, observer: Hook) -> Finish:
    ending = finish(job, Released())
    observer(emit.finished(job, ending, 0))
    return ending


def _release_quietly(jobs: Sequence[Job], observer: Hook) -> None:
    """Give jobs back as far as that is still possible; the others come back when their leases are over."""
    with suppress(DatabaseError):
        for job in jobs:
            _release(job, observer)


def _work_off(job: Job, behind: Sequence[Job], handlers: Handlers, end: float, observer: Hook) -> Finish:
    began = monotonic()
    if job.begin(end, behind):
        job.tell = lambda name, **facts: observer(emit.job_event(job, name, **facts))
        observer(emit.claimed(job))
        ending = finish(job, handle(job, handlers))
    else:
        ending = Finish("lost")
    observer(emit.finished(job, ending, round((monotonic() - began) * 1000)))
    return ending
