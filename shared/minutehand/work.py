"""Work: claim jobs, then run one attempt of each, for an invocation event or as a resident worker."""

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import partial
from threading import Event as Flag
from time import monotonic
from typing import Any
from uuid import UUID

from minutehand.claim import claim, take_in_turns
from minutehand.claimed_job import Job
from minutehand.database import Database
from minutehand.errors import BusyError, ConflictError, DatabaseError, InvalidJobError, UnreachableError
from minutehand.events import emit
from minutehand.events.publish import EventBuffer, publish
from minutehand.finish import finish
from minutehand.handle import handle
from minutehand.handlers import Handlers
from minutehand.lease import Lease
from minutehand.maintenance import run_maintenance
from minutehand.model.event import Hook, Name
from minutehand.model.offer import Offer
from minutehand.model.outcome import Finish, Interrupted, Released
from minutehand.model.queues import Given, Queues
from minutehand.model.turns import Turns
from minutehand.model.worker import UNNAMED, Worker
from minutehand.tracing import spans

# The part of a worker's time that is reserved for writing the last outcome.
FINISH_TIME = timedelta(milliseconds=500)
MAINTENANCE_SECONDS = 60.0


class EventError(ValueError):
    """A worker's event is neither `{"offers": [[id, ack], ...]}` nor `{"queue": name}` nor `{"queue": [name, ...]}`."""


def run_event(
    database: Database,
    handlers: Handlers,
    event: dict[str, Any],
    remaining: Callable[[], timedelta],
    grace: timedelta,
    hook: Hook = emit.ignore,
    worker: Worker = UNNAMED,
) -> list[Finish]:
    """Run the jobs that an invocation event offers, or the next due job of the queue or queues that it names.

    `remaining` returns the time left in the invocation, which becomes the lease. Jobs for which no time is left
    are released.
    """
    offers, queues = parse(event)
    lease = remaining() - FINISH_TIME
    if lease <= FINISH_TIME:
        return []
    grace += FINISH_TIME
    jobs = (
        claim(database, offers, lease, grace, worker)
        if queues is None
        else take_in_turns(database, Turns(queues), 1, lease, grace, worker)
    )
    end = monotonic() + (remaining() - FINISH_TIME).total_seconds()
    return run_jobs(jobs, handlers, lambda: monotonic() > end - FINISH_TIME.total_seconds(), end, hook)


def run_jobs(
    jobs: Sequence[Job],
    handlers: Handlers,
    stopping: Callable[[], bool],
    end: float = math.inf,
    hook: Hook = emit.ignore,
) -> list[Finish]:
    """Run claimed jobs in order; `end` is the worker's last monotonic second.

    Jobs that expired while they waited are released, and end as expired at the next tick.
    Jobs are released, at no cost of an attempt, once `stopping` returns true, and when their timeout, or the longest
    attempt so far, exceeds the time left. An interrupt also releases the interrupted job. After any other
    error the current job keeps its claim, and becomes due again when its lease ends.
    """
    if not jobs:
        return []
    events = EventBuffer(jobs[0].database, hook, end + FINISH_TIME.total_seconds() / 2)
    try:
        return _run_chunk(jobs, handlers, stopping, end, events)
    finally:
        events.send()


def _run_chunk(
    jobs: Sequence[Job], handlers: Handlers, stopping: Callable[[], bool], end: float, hook: Hook
) -> list[Finish]:
    finishes: list[Finish] = []
    waiting = deque(job.lease for job in jobs)
    longest = 0.0
    for position, job in enumerate(jobs):
        waiting.popleft()
        started = monotonic()
        if stopping() or job.lease.expired or (position > 0 and not _fits(job, longest, end - started)):
            finishes.append(_release(job, hook))
            continue
        try:
            finishes.append(run_attempt(job, waiting, handlers, end, hook))
        except BaseException as error:
            again = isinstance(error, Interrupted) and job.finished is None
            _release_if_possible(jobs[position if again else position + 1 :], hook)
            raise
        longest = max(longest, monotonic() - started)
    return finishes


def run_attempt(job: Job, waiting: Iterable[Lease], handlers: Handlers, end: float, hook: Hook) -> Finish:
    """Run one attempt: start its lease, handle the job, write the outcome."""
    started = monotonic()
    job.emit = partial(_emit, job, hook)
    with spans.attempt(job) as span:
        if job.lease.start(end, waiting):
            hook(emit.claimed(job))
            finished = _handled(job, handlers, started, hook)
        else:
            finished = Finish("lost")
        spans.finished(span, finished)
        hook(emit.finished(job, finished, _since(started)))
        return finished


def _handled(job: Job, handlers: Handlers, started: float, hook: Hook) -> Finish:
    try:
        return finish(job, handle(job, handlers))
    except Interrupted:
        # Its transaction has committed, so it is not released.
        if job.finished is not None:
            hook(emit.finished(job, job.finished, _since(started)))
        raise


def _since(started: float) -> int:
    return round((monotonic() - started) * 1000)


def _emit(job: Job, hook: Hook, name: Name, **facts: Any) -> None:
    hook(emit.job_event(job, name, **facts))


def _fits(job: Job, longest: float, left: float) -> bool:
    return left >= (longest if job.timeout is None else job.timeout.total_seconds())


def _release(job: Job, hook: Hook) -> Finish:
    finished = finish(job, Released())
    hook(emit.finished(job, finished, 0))
    return finished


def _release_if_possible(jobs: Sequence[Job], hook: Hook) -> None:
    """Release jobs while the database is available; the others become due when their leases end."""
    with suppress(DatabaseError):
        for job in jobs:
            _release(job, hook)


def work(
    database: Database,
    handlers: Handlers,
    stop: Flag,
    *,
    queues: Given = (),
    strict: bool = False,
    chunk: int = 10,
    lease: timedelta = timedelta(minutes=5),
    grace: timedelta = timedelta(seconds=2),
    idle: timedelta = timedelta(seconds=1),
    drain: bool = False,
    hook: Hook = emit.ignore,
    worker: Worker = UNNAMED,
) -> int:
    """Run jobs until `stop` is set, or with `drain` until none is due. Return how many jobs were handled.

    Serves all queues, or those in `queues`: a name, names, or names with integer weights. See Queues for weights and
    `strict`. Takes up to `chunk` jobs of one queue at a time, and waits for `idle` if none is due. Runs maintenance
    once a minute. Raises InvalidJobError if a name or weight is invalid.
    """
    served = Queues.of(queues, strict)
    turns = Turns(served)
    handled, maintained = 0, -math.inf
    with _publishing_halt(database, served.only, hook):
        while not stop.is_set():
            if monotonic() - maintained > MAINTENANCE_SECONDS:
                run_maintenance(database)
                maintained = monotonic()
            jobs = take_in_turns(database, turns, chunk, lease, grace, worker)
            finishes = run_jobs(jobs, handlers, stop.is_set, hook=hook)
            handled += sum(finish.ending not in ("released", "lost") for finish in finishes)
            if not jobs and (drain or stop.wait(idle.total_seconds())):
                break
    return handled


@contextmanager
def _publishing_halt(database: Database, queue: str | None, hook: Hook) -> Iterator[None]:
    """Publish a `halted` event if an error stops the worker; callers retry errors that pass."""
    try:
        yield
    except Exception as error:
        if not isinstance(error, (UnreachableError, ConflictError, BusyError)):
            event = emit.halted(queue, error)
            hook(event)
            publish(database, [event])
        raise


def parse(event: dict[str, Any]) -> tuple[list[Offer], Queues | None]:
    """Return an event's offers, or the queues to take from; raise EventError for anything else."""
    match event:
        case {"offers": pairs}:
            return _offers(pairs), None
        case {"queue": str() | [_, *_] as names}:
            return [], _queues(names)
    raise EventError('event must be {"offers": [[id, ack], ...]}, {"queue": name} or {"queue": [name, ...]}')


def _queues(names: str | list[str]) -> Queues:
    try:
        return Queues.of(names)
    except InvalidJobError as error:
        raise EventError(str(error)) from None


def _offers(pairs: Any) -> list[Offer]:
    try:
        return [Offer(UUID(job_id), UUID(ack)) for job_id, ack in pairs]
    except (TypeError, ValueError, AttributeError) as error:
        raise EventError(f"offers must be a list of [id, ack] pairs of UUIDs: {error}") from None
