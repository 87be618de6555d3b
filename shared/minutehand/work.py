"""Work: run due jobs as a resident worker."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from threading import Event as Flag

from minutehand.attempts.in_turn import run_jobs
from minutehand.claim import take_in_turns
from minutehand.database import Database
from minutehand.errors import BusyError, ConflictError, UnreachableError
from minutehand.events import emit
from minutehand.events.publish import publish
from minutehand.handlers import Handlers
from minutehand.model.event import Hook
from minutehand.model.queues import Given, Queues
from minutehand.model.turns import Turns
from minutehand.model.worker import UNNAMED, Worker


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
