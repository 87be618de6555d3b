"""Lambda's queue of asynchronous events in simulated seconds, for many invocations in one process.

A throttled event is tried again after 1, 2, 4 and more seconds, and dropped after a minute: see `emulator.async_queue`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from random import Random
from typing import Any

AGE = 60.0


@dataclass(order=True)
class Waiting:
    """An event, the second at which it is tried next, and the one at which it was accepted."""

    due: float
    order: int
    accepted: float = field(compare=False)
    event: dict[str, Any] = field(compare=False)
    refusals: int = field(default=0, compare=False)


class LambdaQueue:
    """Start workers by events, within a concurrency and, if set, a number of starts per minute."""

    def __init__(self, run: Callable[[dict[str, Any]], float], concurrency: int) -> None:
        """Call `run` with each event; it returns the seconds that the invocation takes."""
        self.now = 0.0
        self.per_minute: float | None = None
        self.accepted = self.started = self.dropped = 0
        self._run, self._concurrency = run, concurrency
        self._waiting: list[Waiting] = []
        self._running: list[float] = []
        self._order, self._chance, self._next_start = count(), Random(0), 0.0

    def invoke(self, worker: str, event: dict[str, Any]) -> None:
        """Accept an event, as Lambda always does."""
        self.accepted += 1
        heappush(self._waiting, Waiting(self.now, next(self._order), self.now, event))

    def pass_time(self, seconds: float) -> None:
        """Try all events that are due within this time."""
        end = self.now + seconds
        while self._waiting and self._waiting[0].due < end:
            waiting = heappop(self._waiting)
            self.now = max(self.now, waiting.due)
            self._try(waiting)
        self.now = end

    def _try(self, waiting: Waiting) -> None:
        while self._running and self._running[0] <= self.now:
            heappop(self._running)
        if self.now - waiting.accepted > AGE:
            self.dropped += 1
        elif self._may_start():
            self.started += 1
            heappush(self._running, self.now + self._run(waiting.event))
        else:
            waiting.refusals += 1
            pause = 2 ** min(waiting.refusals - 1, 9) * self._chance.uniform(0.5, 1.5)
            waiting.due = min(self.now + pause, waiting.accepted + AGE + 0.001)
            heappush(self._waiting, waiting)

    def _may_start(self) -> bool:
        if len(self._running) >= self._concurrency:
            return False
        if self.per_minute is not None:
            if self.now < self._next_start:
                return False
            self._next_start = self.now + AGE / self.per_minute
        return True
