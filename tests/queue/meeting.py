"""Handlers that wait for each other, so that they end only if they run at the same time."""

import asyncio
from datetime import timedelta
from typing import Any

from minutehand.attempts.in_turn import run_jobs
from minutehand.handlers import HandlerTable
from minutehand.model.outcome import Finish
from tests.queue.stage import Queue

# Ends a test that fails, whose handlers would wait forever.
LIMIT = timedelta(seconds=30)


class Meeting:
    """Ends when a number of handlers have arrived; `most` is how many were inside at the same time."""

    def __init__(self, size: int) -> None:
        self._size, self._inside, self.most = size, 0, 0
        self._complete = asyncio.Event()

    async def attend(self) -> None:
        self._inside += 1
        self.most = max(self.most, self._inside)
        if self._inside == self._size:
            self._complete.set()
        await self._complete.wait()
        # The next ones meet again.
        self._inside -= 1
        if self._inside == 0:
            self._complete.clear()


def run(queue: Queue, handlers: dict[str, Any], concurrency: int = 10, **options: Any) -> list[Finish]:
    """Let a worker take due jobs and run them."""
    stopping = options.pop("stopping", lambda: False)
    return run_jobs(queue.take(20), HandlerTable(handlers), stopping, concurrency=concurrency, **options)


def endings(finishes: list[Finish]) -> list[str]:
    return [finish.ending for finish in finishes]
