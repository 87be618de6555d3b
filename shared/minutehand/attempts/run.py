"""Run: one attempt of an async job, as a task of the event loop."""

import asyncio
import logging
from contextvars import Context, ContextVar, copy_context
from time import monotonic
from typing import Any
from weakref import WeakSet

from minutehand.attempts.time_limit import MESSAGE
from minutehand.calling.event_loop import CLEANUP_SECONDS
from minutehand.claimed_job import AsyncJob
from minutehand.handle import failed, result_of, returned
from minutehand.handlers import Handler
from minutehand.model.failure import RAISED_ON_PURPOSE
from minutehand.model.outcome import Interrupted, Outcome, OutOfTime

logger = logging.getLogger(__name__)


class Run:
    """One attempt. Its handler runs in a task with a context of its own, and may create further tasks there."""

    def __init__(self, job: AsyncJob, handler: Handler) -> None:
        """Nothing runs yet."""
        self.job = job
        self.out_of_time = False
        # When the handler was cancelled, in monotonic seconds.
        self.cancelled: float | None = None
        self._handler = handler
        self._interrupted = asyncio.get_running_loop().create_future()
        self._tasks: WeakSet[asyncio.Task[Any]] = WeakSet()

    async def outcome(self) -> Outcome | None:
        """Run the handler until it ends or its time is over. Return its outcome, or None if it was interrupted.

        A handler that ignores its cancellation has its lease to end, since no other attempt may begin meanwhile.
        """
        context = copy_context()
        context.run(_current.set, self)
        task = asyncio.get_running_loop().create_task(self._handle(), context=context)
        await self._until_over(task)
        if self.cancelled is not None:
            # An alarm was raised in one of its tasks, of which it learns now.
            await asyncio.wait([task], timeout=CLEANUP_SECONDS / 2)
        if not task.done():
            await self._cancel({task})
        if not task.done() and self.out_of_time:
            logger.warning("the handler of job %s did not end when it was cancelled", self.job.id)
            await asyncio.wait([task], timeout=max(0.0, self.job.lease.until - monotonic()))
        await self._cancel_left(task)
        if not task.done():
            return None
        if task.cancelled() or task.exception() is not None:
            # Cancelled before it began, or interrupted by a signal handler.
            return self._interruption(None)
        return task.result()

    def interrupt(self) -> None:
        """Cancel the handler, and let the job have no outcome unless it ends with one of its own."""
        if not self._interrupted.done():
            self._interrupted.set_result(None)

    async def _handle(self) -> Outcome | None:
        try:
            result = result_of(self.job, await self._handler.run_async(self.job))
        # SystemExit and others included: they end the handler, not the worker.
        except BaseException as error:
            if isinstance(error, Interrupted):
                # Raised by a signal handler, for all jobs.
                raise
            return self._failed(error)
        return returned(self.job, result)

    def _failed(self, error: BaseException) -> Outcome | None:
        if isinstance(error, RAISED_ON_PURPOSE) or self.cancelled is None:
            return failed(self.job, error)
        return self._interruption(error)

    def _interruption(self, cause: BaseException | None) -> Outcome | None:
        """Return the outcome of a handler that was cancelled: none, if not because of its own time."""
        if self.out_of_time:
            error = OutOfTime(MESSAGE)
            error.__cause__ = cause
            return failed(self.job, error)
        return returned(self.job, None) if self.job.finished else None

    async def _until_over(self, task: asyncio.Task[Any]) -> None:
        """Wait until the handler has ended, its time is over, or it is interrupted."""
        while not task.done() and not self._interrupted.done():
            if (left := self.job.lease.deadline - monotonic()) <= 0:
                self.out_of_time = True
                return
            await asyncio.wait([task, self._interrupted], timeout=left, return_when=asyncio.FIRST_COMPLETED)

    async def _cancel(self, tasks: set[asyncio.Task[Any]]) -> None:
        """Cancel tasks, and wait a moment until they have ended."""
        self.cancelled = self.cancelled or monotonic()
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks, timeout=CLEANUP_SECONDS)

    async def _cancel_left(self, task: asyncio.Task[Any]) -> None:
        left = {each for each in self._tasks if each is not task and not each.done()}
        if left:
            logger.warning("a handler left %d tasks running; they were cancelled: await them", len(left))
            await self._cancel(left)

    @staticmethod
    def make_task(
        loop: asyncio.AbstractEventLoop, coroutine: Any, context: Context | None = None, **options: Any
    ) -> asyncio.Task[Any]:
        """Create a task, as a task factory of the loop, and remember those of each job."""
        task: asyncio.Task[Any] = asyncio.Task(coroutine, loop=loop, context=context, **options)
        run = current() if context is None else context.get(_current)
        if run is not None:
            run._tasks.add(task)
        return task


_current: ContextVar[Run | None] = ContextVar("_current", default=None)


def current() -> Run | None:
    """Return the attempt to which the running code belongs."""
    return _current.get()
