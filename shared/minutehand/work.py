"""Work: claim jobs, then run one attempt of each, for an invocation event or as a resident worker."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from threading import Event as Flag
from time import monotonic
from typing import Any
from uuid import UUID

from minutehand.attempts.in_turn import FINISH_TIME, run_jobs
from minutehand.claim import claim, take_in_turns
from minutehand.database import Database
from minutehand.errors import BusyError, ConflictError, InvalidJobError, UnreachableError
from minutehand.events import emit
from minutehand.events.publish import publish
from minutehand.handlers import Handlers
from minutehand.model.event import Hook
from minutehand.model.offer import Offer
from minutehand.model.outcome import Finish
from minutehand.model.queues import Given, Queues
from minutehand.model.turns import Turns
from minutehand.model.worker import UNNAMED, Worker


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
    concurrency: int = 1,
) -> list[Finish]:
    """Run the jobs that an invocation event offers, or the next due job of the queue or queues that it names.

    `remaining` returns the time left in the invocation, which becomes the lease. Jobs for which no time is left
    are released. Up to `concurrency` async jobs run at the same time.
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
    last_start = end - FINISH_TIME.total_seconds()
    return run_jobs(jobs, handlers, lambda: monotonic() > last_start, end, hook, concurrency)


def work(
    database: Database,
    handlers: Handlers,
    stop: Flag,
    *,
    queues: Given = (),
    strict: bool = False,
    chunk: int = 10,
    concurrency: int = 10,
    lease: timedelta = timedelta(minutes=5),
    grace: timedelta = timedelta(seconds=2),
    idle: timedelta = timedelta(seconds=1),
    drain: bool = False,
    hook: Hook = emit.ignore,
    worker: Worker = UNNAMED,
) -> int:
    """Run jobs until `stop` is set, or with `drain` until none is due. Return how many jobs were handled.

    Serves all queues, or those in `queues`: a name, names, or names with integer weights. See Queues for weights and
    `strict`. Takes up to `chunk` jobs of one queue at a time, of which up to `concurrency` async ones run at the same
    time, and waits for `idle` if none is due. Runs maintenance once a minute. Raises InvalidJobError if a name or
    weight is invalid.
    """
    # Imported here, because the worker function does not need it.
    from minutehand.maintenance import WorkerMaintenance

    served = Queues.of(queues, strict)
    turns = Turns(served)
    maintenance, handled = WorkerMaintenance(), 0
    with _publishing_halt(database, served.only, hook):
        while not stop.is_set():
            maintenance.run(database)
            jobs = take_in_turns(database, turns, chunk, lease, grace, worker)
            finishes = run_jobs(jobs, handlers, stop.is_set, hook=hook, concurrency=concurrency)
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
