"""Together: async jobs that run at the same time, on one event loop.

Each job has a task, a copy of the context variables, a time limit and an outcome of its own. Leases and outcomes are
written in the database's thread, one after another, while the handlers go on.
"""

import asyncio
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from threading import current_thread, main_thread
from uuid import UUID

from minutehand.attempts.blocked_loop import BlockedLoop
from minutehand.attempts.chunk import Chunk
from minutehand.attempts.run import Run, current
from minutehand.calling.event_loop import drive
from minutehand.calling.interrupts import noticed_by, received_by
from minutehand.claimed_job import AsyncJob
from minutehand.database.in_loop import in_database_thread
from minutehand.handlers import Handler
from minutehand.model.outcome import Finish, Interrupted, Outcome, Settled


class Together:
    """The async jobs of a chunk."""

    def __init__(self, chunk: Chunk, jobs: Sequence[tuple[AsyncJob, Handler]]) -> None:
        """Nothing runs yet."""
        self._chunk, self._jobs = chunk, deque(jobs)
        self._runs: dict[UUID, Run] = {}
        self._error: BaseException | None = None
        self._interrupted = False

    def run(self, concurrency: int) -> None:
        """Run the jobs, up to `concurrency` at a time, and return when all have ended.

        After an error of the worker, such as an unreachable database, or an interrupt, no further job starts. It is
        raised when the running ones have ended.
        """
        drive(self._main(concurrency), self.interrupt)
        if self._error is not None:
            raise self._error

    def interrupt(self) -> None:
        """Cancel all handlers. Their jobs have no outcome, unless they end with one of their own."""
        self._interrupted = True
        self._error = self._error or Interrupted()
        for run in self._runs.values():
            run.interrupt()

    async def _main(self, concurrency: int) -> None:
        self._loop = asyncio.get_running_loop()
        with self._watched():
            await asyncio.gather(*(self._run_in_turn() for _ in range(min(concurrency, len(self._jobs)))))

    async def _run_in_turn(self) -> None:
        while self._jobs and self._error is None:
            try:
                await self._attempt(*self._jobs.popleft())
            except Exception as error:
                self._error = self._error or error

    async def _attempt(self, job: AsyncJob, handler: Handler) -> None:
        if not self._chunk.may_start(job):
            await in_database_thread(self._chunk.release, job)
            return
        with self._chunk.attempt(job):
            if await self._start(job) and not self._interrupted:
                await self._run_to_end(Run(job, handler))

    async def _start(self, job: AsyncJob) -> bool:
        if self._chunk.starts_at_once(job):
            return self._chunk.start(job)
        return await in_database_thread(self._chunk.start, job)

    async def _run_to_end(self, run: Run) -> None:
        self._runs[run.job.id] = run
        self._blocked.arm()
        try:
            outcome = await run.outcome()
        finally:
            del self._runs[run.job.id]
        if outcome is not None:
            await self._finish(run.job, outcome)
        elif not self._interrupted:
            # The lease has ended before the handler has.
            await in_database_thread(self._chunk.end, run.job, Finish("lost"))

    async def _finish(self, job: AsyncJob, outcome: Outcome) -> None:
        if isinstance(outcome, Settled):
            await in_database_thread(self._chunk.finish, job, outcome)
        elif self._chunk.add(job, outcome):
            await in_database_thread(self._chunk.write)

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """Handle signals, which only the main thread receives, and know the tasks of each job."""
        self._blocked = BlockedLoop(self._runs.values())
        former = self._loop.get_task_factory()
        self._loop.set_task_factory(Run.make_task)
        try:
            with ExitStack() as stack:
                if current_thread() is main_thread():
                    stack.enter_context(self._blocked.watched())
                    stack.enter_context(noticed_by(self._loop))
                    stack.enter_context(received_by(self._signalled))
                yield
        finally:
            self._loop.set_task_factory(former)

    def _signalled(self) -> None:
        """Interrupt from a signal handler: in a handler that may block the loop, otherwise in the loop."""
        if current() is not None:
            raise Interrupted
        self._loop.call_soon_threadsafe(self.interrupt)
