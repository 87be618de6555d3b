"""Work: run due jobs as a resident worker."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import partial
from math import inf
from threading import Event as Flag

from minutehand.attempts.chunk import Chunk
from minutehand.attempts.group import Group
from minutehand.attempts.in_turn import run_chunk, run_jobs
from minutehand.attempts.taker import Taker
from minutehand.attempts.time_limit import time_limits
from minutehand.calling import unawaited
from minutehand.database import Database
from minutehand.errors import PASSING, MinutehandError
from minutehand.events import emit, hooks
from minutehand.events.publish import EventBuffer, publish
from minutehand.handlers import Handlers
from minutehand.model.event import Hook
from minutehand.model.looked import Looked
from minutehand.model.queues import Given, Queues
from minutehand.model.turns import Turns
from minutehand.model.worker import UNNAMED, Worker

# Due jobs of a queue that are counted for the metrics; a tick counts as many, or as many as its capacity.
COUNT_LIMIT = 1000


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
    # The end of a drain needs a look at all due jobs.
    looked = None if drain else Looked()
    taker = Taker(database, Turns(served), chunk, lease, grace, worker, looked=looked)
    maintenance, handled = WorkerMaintenance(), 0
    with (
        _publishing_halt(database, served.only, hook),
        # Once, and not for the jobs of each chunk.
        unawaited.watching(),
        time_limits(),
        Group() as group,
        _releasing(taker, handlers),
    ):
        chunk_of = partial(
            Chunk,
            handlers=handlers,
            stopping=stop.is_set,
            end=inf,
            events=EventBuffer(database, hook, inf),
            group=group,
            # Jobs that were taken must not wait for maintenance.
            ahead=lambda: None if maintenance.is_due else taker.ahead(),
            traced=taker.traced,
        )
        while not stop.is_set():
            if report := maintenance.run(database):
                _measure(database, report.figures())
            jobs = taker.take()
            finishes = run_chunk(chunk_of(jobs), concurrency) if jobs else []
            if jobs and hooks.are_registered_for_figures():
                hooks.call_with_figures({"taken": len(finishes)})
            handled += sum(finish.ending not in ("released", "lost") for finish in finishes)
            if not jobs and (drain or stop.wait(min(idle.total_seconds(), taker.longest_wait))):
                break
    return handled


def _measure(database: Database, maintained: Mapping[str, int]) -> None:
    """Pass the figures of a full run of maintenance, of the due jobs and of the database to the hooks."""
    if not hooks.has_figures_hooks():
        return
    # Imported only when used, as in `work`.
    from minutehand.queries.health import check_health

    figures = dict(maintained)
    for measure in (_count_due, lambda database: check_health(database).figures()):
        # A role may lack a privilege.
        try:
            figures |= measure(database)
        except MinutehandError:
            hooks.lose_figures()
    hooks.call_with_figures(figures)


def _count_due(database: Database) -> dict[str, int]:
    due = database.run("count_due", limit=COUNT_LIMIT, now=None)
    late = max((record["late"] for record in due), default=timedelta())
    return {
        "due": sum(record["due"] for record in due),
        "oldest_due_ms": round(late.total_seconds() * 1000),
    }


@contextmanager
def _releasing(taker: Taker, handlers: Handlers) -> Iterator[None]:
    """Release the jobs that the worker has taken ahead if it ends before it has run them."""
    try:
        yield
    finally:
        with suppress(MinutehandError):
            run_jobs(taker.taken_ahead(), handlers, lambda: True)


@contextmanager
def _publishing_halt(database: Database, queue: str | None, hook: Hook) -> Iterator[None]:
    """Publish a `halted` event if an error stops the worker; callers retry errors that pass."""
    try:
        yield
    except Exception as error:
        hooks.lose_figures()
        if not isinstance(error, PASSING):
            event = emit.halted(queue, error)
            hook(event)
            publish(database, [event])
        raise
