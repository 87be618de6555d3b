"""In turn: run the jobs of a chunk, one at a time, or async ones together."""

import math
from collections.abc import Callable, Sequence
from contextvars import Context
from datetime import timedelta

from minutehand.attempts.chunk import Chunk
from minutehand.attempts.group import Group
from minutehand.attempts.time_limit import time_limits
from minutehand.calling import unawaited
from minutehand.calling.interrupts import received_by
from minutehand.claimed_job import AsyncJob, Job
from minutehand.events import emit
from minutehand.events.publish import EventBuffer
from minutehand.handle import handle
from minutehand.handlers import Handlers
from minutehand.model.event import Hook
from minutehand.model.outcome import Finish, Interrupted
from minutehand.tracing import spans

# The part of a worker's time that is reserved for writing the last outcome.
FINISH_TIME = timedelta(milliseconds=500)


def run_jobs(
    jobs: Sequence[Job],
    handlers: Handlers,
    stopping: Callable[[], bool],
    end: float = math.inf,
    hook: Hook = emit.ignore,
    concurrency: int = 1,
) -> list[Finish]:
    """Run claimed jobs in order; `end` is the worker's last monotonic second, which FINISH_TIME follows.

    The async jobs among them run together, up to `concurrency` at a time, when the first of them has its turn.

    Jobs that expired while they waited are released, and end as expired at the next tick.
    Jobs are released, at no cost of an attempt, once `stopping` returns true, and when their timeout, or the longest
    attempt so far, exceeds the time left. An interrupt also releases the interrupted jobs. After any other
    error the current job keeps its claim, and becomes due again when its lease ends.

    Outcomes of short attempts are written together; see `minutehand.attempts.group`.
    """
    if not jobs:
        return []
    events = EventBuffer(jobs[0].database, hook, end + FINISH_TIME.total_seconds() / 2)
    with unawaited.watching(), time_limits(), Group() as group:
        return run_chunk(Chunk(jobs, handlers, stopping, end, events, group), concurrency)


def run_chunk(chunk: Chunk, concurrency: int) -> list[Finish]:
    """Do what `run_jobs` does within `unawaited.watching` and `time_limits`, which a resident worker enters once."""
    try:
        _run(chunk, concurrency)
        return chunk.finishes
    finally:
        chunk.close()


def _run(chunk: Chunk, concurrency: int) -> None:
    try:
        if not chunk.stopping():
            chunk.find_handlers()
        _run_in_turn(chunk, concurrency)
        chunk.write()
    except BaseException as error:
        # Further interrupts change nothing.
        with received_by(lambda: None):
            chunk.release_rest(isinstance(error, KeyboardInterrupt))
        raise


def _run_in_turn(chunk: Chunk, concurrency: int) -> None:
    together = [job for job in chunk.jobs if isinstance(job, AsyncJob) and chunk.find(job.kind).runs_in_loop]
    in_loop = set[Job](together)
    for job in chunk.jobs:
        if job not in in_loop:
            _run_alone(chunk, job)
        elif not chunk.ended(job):
            _run_together(chunk, together, concurrency)


def _run_alone(chunk: Chunk, job: Job) -> None:
    if not chunk.may_start(job):
        chunk.release(job)
        return
    if chunk.is_traced:
        with chunk.attempt(job):
            if chunk.start(job):
                _handle(chunk, job)
        return
    context = spans.context_of(job)
    if not chunk.is_observed:
        if chunk.start(job):
            _handle(chunk, job, context)
    elif context.run(chunk.start, job):
        # Variables that the handler sets are not those of the events.
        _handle(chunk, job, context.copy(), context)


def _handle(chunk: Chunk, job: Job, context: Context | None = None, of_events: Context | None = None) -> None:
    try:
        chunk.finish(job, handle(job, chunk, context), of_events)
    except Interrupted:
        # Its transaction has committed, so it is not released.
        if job.finished is not None:
            chunk.end(job, job.finished, of_events)
        raise


def _run_together(chunk: Chunk, jobs: Sequence[AsyncJob], concurrency: int) -> None:
    # Imported only when used, for the sake of cold starts.
    from minutehand.attempts.together import Together

    # The caller's connection, which is in the caller's transaction, is the only one.
    at_once = 1 if jobs[0].database.borrowed or spans.are_stacked() else concurrency
    Together(chunk, [(job, chunk.find(job.kind)) for job in jobs]).run(at_once)
