"""Chunk: the jobs that a worker has claimed at once, and how their attempts begin and end."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from time import monotonic
from typing import Any
from uuid import UUID

from minutehand.attempts.time_limit import time_limit
from minutehand.claimed_job import AsyncJob, Job
from minutehand.errors import DatabaseError
from minutehand.events import emit
from minutehand.finish import finish
from minutehand.handlers import Handler, Handlers
from minutehand.lease import Lease
from minutehand.model.event import Hook, Name
from minutehand.model.outcome import Finish, Outcome, OutOfTime, Released
from minutehand.tracing import spans


class Chunk:
    """Claimed jobs, and the outcomes of those that have ended."""

    def __init__(
        self, jobs: Sequence[Job], handlers: Handlers, stopping: Callable[[], bool], end: float, hook: Hook
    ) -> None:
        """Take over the claims; nothing runs yet."""
        self.jobs, self._handlers, self._hook, self._end = jobs, handlers, hook, end
        self.stopping = stopping
        self._waiting: dict[UUID, Lease] = {job.id: job.lease for job in jobs}
        self._running: dict[UUID, Job] = {}
        self._finishes: dict[UUID, Finish] = {}
        self._found: dict[str, Handler] = {}
        # The seconds of the longest attempt that has ended.
        self._longest: float | None = None

    @property
    def finishes(self) -> list[Finish]:
        """The outcomes in the order of the jobs, when all have ended."""
        return [self._finishes[job.id] for job in self.jobs]

    def ended(self, job: Job) -> bool:
        """Whether the job has its outcome, or was released."""
        return job.id in self._finishes

    def find(self, kind: str) -> Handler:
        """Return a kind's handler; raise what prevents that."""
        return self._found[kind] if kind in self._found else self._handlers.find(kind)

    def find_handlers(self) -> None:
        """Find the handlers of all kinds, some of which may be imported now, and prepare the jobs for them.

        An error is not raised here, but again in the attempts of that kind. The time of the first one is the limit.
        """
        for job in {job.kind: job for job in reversed(self.jobs)}.values():
            with suppress(Exception, SystemExit, OutOfTime):
                job.lease.start(self._end, self._waiting.values())
                with time_limit(job.lease):
                    self._found[job.kind] = self._handlers.find(job.kind)
        asynchronous = {kind for kind, handler in self._found.items() if handler.is_async}
        self.jobs = [AsyncJob.of(job) if job.kind in asynchronous else job for job in self.jobs]

    def may_start(self, job: Job) -> bool:
        """Whether an attempt may start now: without a stop, and with enough time left."""
        return not self.stopping() and not job.lease.expired and self._fits(job)

    @contextmanager
    def attempt(self, job: Job) -> Iterator[None]:
        """Make the job's trace the current one in this block, and record how the attempt ends."""
        with spans.attempt(job) as span:
            yield
            if job.id in self._finishes:
                spans.finished(span, self._finishes[job.id])

    def start(self, job: Job) -> bool:
        """Start the attempt's time. Return False if the claim is lost."""
        self._waiting.pop(job.id)
        job.emit = partial(self._emit, job)
        self._running[job.id] = job
        if not job.lease.start(self._end, self._waiting.values()):
            self.end(job, Finish("lost"))
            return False
        self._hook(emit.claimed(job))
        return True

    def finish(self, job: Job, outcome: Outcome) -> None:
        """Write the outcome of an attempt."""
        self.end(job, finish(job, outcome))

    def end(self, job: Job, finished: Finish) -> None:
        """Note how an attempt has ended."""
        self._running.pop(job.id)
        self._finishes[job.id] = finished
        seconds = monotonic() - (job.lease.started or monotonic())
        self._longest = max(self._longest or 0.0, seconds)
        self._hook(emit.finished(job, finished, round(seconds * 1000)))

    def _emit(self, job: Job, name: Name, **facts: Any) -> None:
        self._hook(emit.job_event(job, name, **facts))

    def _fits(self, job: Job) -> bool:
        """Whether the time left is likely to be enough. No other worker has more for the jobs that start first."""
        if self._longest is None:
            return True
        return self._end - monotonic() >= (
            self._longest if job.timeout is None else job.timeout.total_seconds()
        )

    def release(self, job: Job) -> None:
        """Release a job at no cost of an attempt."""
        self._waiting.pop(job.id, None)
        self._finishes[job.id] = finish(job, Released())
        self._hook(emit.finished(job, self._finishes[job.id], 0))

    def release_rest(self, interrupted: bool) -> None:
        """Release jobs while the database is available; the others become due when their leases end."""
        left = [job for job in self.jobs if job.id not in self._finishes]
        with suppress(DatabaseError):
            for job in left:
                if interrupted or job.id not in self._running:
                    self.release(job)
