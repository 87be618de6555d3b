"""Chunk: the jobs that a worker has claimed at once, and how their attempts begin and end."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from contextvars import Context, copy_context
from math import inf
from time import monotonic
from typing import Any

from minutehand.attempts.ending import Ahead
from minutehand.attempts.group import Group
from minutehand.attempts.successors import wake_successors
from minutehand.attempts.time_limit import time_limit, without_limit
from minutehand.calling.interrupts import deferred
from minutehand.claimed_job import AsyncJob, Job
from minutehand.errors import DatabaseError
from minutehand.events import emit
from minutehand.events.publish import EventBuffer
from minutehand.finish import finish
from minutehand.handlers import Handler, Handlers
from minutehand.lease import WaitingLeases
from minutehand.model.event import Name
from minutehand.model.outcome import Finish, Outcome, OutOfTime, Released, Settled
from minutehand.tracing import spans


class Chunk:
    """Claimed jobs, and the outcomes of those that have ended."""

    def __init__(
        self,
        jobs: Sequence[Job],
        handlers: Handlers,
        stopping: Callable[[], bool],
        end: float,
        events: EventBuffer,
        group: Group,
        ahead: Callable[[], Ahead | None] = lambda: None,
        traced: bool | None = None,
    ) -> None:
        """Take over the claims; nothing runs yet. `ahead` returns what to run with the last write of outcomes.

        The group must be empty. A worker of many chunks passes whether spans are recorded.
        """
        self.jobs, self._handlers, self._events, self._end = jobs, handlers, events, end
        self._database = jobs[0].database
        self._second = self._database.second
        self._ahead, self._listeners = ahead, events.listeners
        self.stopping = stopping
        self._waiting = WaitingLeases([job.lease for job in jobs])
        self._running: set[Job] = set()
        self._group = group
        # Whether spans are recorded.
        self.is_traced = spans.are_recorded() if traced is None else traced
        # The caller may roll back at any time, and a span reports how the outcome was written.
        self._at_once = self.is_traced or self._database.borrowed
        self._finishes: dict[Job, Finish] = {}
        self._found: dict[str, Handler] = {}
        # The seconds of the longest attempt that has ended.
        self._longest: float | None = None
        # Bound once, and not for each job.
        self._emit_event, self._write = self._emit, self.write
        self._record, self._record_in_trace = self._ended, self._ended_in_trace

    @property
    def finishes(self) -> list[Finish]:
        """The outcomes in the order of the jobs, when all have been written."""
        return [self._finishes[job] for job in self.jobs]

    def close(self) -> None:
        """Send the events, and forget the jobs, which refer to this chunk and only the collector would free.

        It would look at all objects of several chunks, which took a fifth of a worker's time.
        """
        self._events.send()
        self.jobs, self._finishes = (), {}
        del self._emit_event, self._write, self._record, self._record_in_trace

    def ended(self, job: Job) -> bool:
        """Whether the attempt has ended, or the job was released."""
        return job in self._finishes or job in self._group

    def find(self, kind: str) -> Handler:
        """Return a kind's handler; raise what prevents that."""
        return self._found[kind] if kind in self._found else self._handlers.find(kind)

    def find_handlers(self) -> None:
        """Find the handlers of all kinds, some of which may be imported now, and prepare the jobs for them.

        An error is not raised here, but again in the attempts of that kind. The time of the first one is the limit.
        """
        for job in {job.kind: job for job in reversed(self.jobs)}.values():
            with suppress(Exception, SystemExit, OutOfTime):
                job.lease.start(self._end, self._waiting)
                with time_limit(job.lease):
                    self._found[job.kind] = self._handlers.find(job.kind)
            # Its attempt has not begun.
            job.lease.started = None
        asynchronous = {kind for kind, handler in self._found.items() if handler.is_async}
        if asynchronous:
            self.jobs = [AsyncJob.of(job) if job.kind in asynchronous else job for job in self.jobs]

    def may_start(self, job: Job) -> bool:
        """Whether an attempt may start now: without a stop, and with enough time left."""
        return (
            not self.stopping()
            and (job.lease.start_by == inf or not job.lease.expired)
            and (self._longest is None or self._end == inf or self._fits(job, self._longest))
        )

    @property
    def is_observed(self) -> bool:
        """Whether anything besides a handler can see in whose attempt it runs: a span, or what gets the events."""
        return self.is_traced or bool(self._listeners)

    def attempt(self, job: Job) -> AbstractContextManager[Any]:
        """Make the job's trace the current one in this block, and record in its span how the attempt ends."""
        return self._recorded(job) if self.is_traced else spans.without_span(job)

    @contextmanager
    def _recorded(self, job: Job) -> Iterator[None]:
        with spans.attempt(job) as span:
            yield
            if job in self._finishes:
                spans.finished(span, self._finishes[job])

    def start(self, job: Job) -> bool:
        """Start the attempt's time. Return False if the claim is lost."""
        self._waiting.discard(job.lease)
        job.emit, job.write_group = self._emit_event, self._write
        self._running.add(job)
        if not job.lease.start(self._end, self._waiting):
            self.end(job, Finish("lost"))
            return False
        if self._listeners:
            self._events(emit.claimed(job))
        self._watch(job)
        return True

    def starts_at_once(self, job: Job) -> bool:
        """Whether the start of an attempt needs neither a statement nor a hook."""
        end = min(monotonic() + job.lease.duration.total_seconds(), self._end)
        return not self._listeners and job.lease.holds_to(end, self._waiting)

    def finish(self, job: Job, outcome: Outcome, context: Context | None = None) -> None:
        """Write the outcome of an attempt, at once or together with others. Its events get the variables of a context.

        The job's trace is the current one there.
        """
        if isinstance(outcome, Settled):
            self.end(job, finished := finish(job, outcome), context)
            wake_successors(job.database, [finished])
        elif self.add(job, outcome, context):
            self.write()

    def add(self, job: Job, outcome: Outcome, context: Context | None = None) -> bool:
        """Add an outcome to those that are written together. Return whether they must be written now."""
        seconds = self._measure(job)
        record = self._record_in_trace
        if context is None:
            record, context = self._record, copy_context() if self.is_observed else None
        is_due = self._group.add(job, outcome, seconds, record, context)
        self._running.discard(job)
        if self._running:
            self._watch(job)
        return is_due or self._at_once

    def write(self) -> None:
        """Write the outcomes of all attempts that have ended. An interrupt waits for that."""
        with deferred(), without_limit():
            if self._database.in_transaction:
                # An async handler left it open.
                self._database.close()
            self._group.write(ahead=self._ahead() if self._is_last_write() else None)

    def _is_last_write(self) -> bool:
        """Whether all attempts have ended, and this write has their last outcomes."""
        # In this order: another thread may remove an outcome from the group meanwhile, and record it then.
        left = len(self.jobs) - len(self._finishes)
        return 0 < left == len(self._group) and not self.stopping()

    def end(self, job: Job, finished: Finish, context: Context | None = None) -> None:
        """Note how an attempt has ended whose outcome was written; `context` is as in `finish`."""
        self._running.discard(job)
        if context is None:
            self._ended(job, finished, self._measure(job))
        else:
            context.run(self._ended_in_trace, job, finished, self._measure(job))

    def release(self, job: Job) -> None:
        """Release a job at no cost of an attempt."""
        self._waiting.discard(job.lease)
        if self._group.add(job, Released(), 0.0, self._record, copy_context()):
            self.write()

    def release_rest(self, interrupted: bool) -> None:
        """Release jobs while the database is available; the others become due when their leases end."""
        with suppress(DatabaseError):
            self.write()
            for job in self.jobs:
                if not self.ended(job) and (interrupted or job not in self._running):
                    self.release(job)
            self.write()

    def _watch(self, job: Job) -> None:
        """Let outcomes be written while handlers run.

        A handler that is not async may use the worker's connection in any way, so this needs the second one.
        Transactions of async handlers are on the second one, and the library's statements on the other.
        """
        self._group.watch(self._database if isinstance(job, AsyncJob) else self._second)

    def _measure(self, job: Job) -> float:
        """Return the seconds of an attempt that has ended now."""
        lease = job.lease
        lease.ended = ended = monotonic()
        seconds = 0.0 if lease.started is None else ended - lease.started
        if self._longest is None or seconds > self._longest:
            self._longest = seconds
        return seconds

    def _ended(self, job: Job, finished: Finish, seconds: float) -> None:
        self._finishes[job] = finished
        if self._listeners:
            # Listeners may be new, and the outcome have been added without its context variables.
            with nullcontext() if self.is_traced else spans.without_span(job):
                self._ended_in_trace(job, finished, seconds)

    def _ended_in_trace(self, job: Job, finished: Finish, seconds: float) -> None:
        self._finishes[job] = finished
        if self._listeners:
            self._events(emit.finished(job, finished, round(seconds * 1000)))

    def _emit(self, job: Job, name: Name, **facts: Any) -> None:
        self._events(emit.job_event(job, name, **facts))

    def _fits(self, job: Job, longest: float) -> bool:
        """Whether the time left is likely to be enough. No other worker has more for the jobs that start first."""
        return self._end - monotonic() >= (longest if job.timeout is None else job.timeout.total_seconds())
