"""The agenda: what happens next, in the order of time."""

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any

# The order of events at the same time: a tick sees what has ended and arrived, and starts come after it.
ENDS, ARRIVALS, DUE, STEPS, TICKS, STARTS = range(6)


class Agenda:
    """The future events of a simulation."""

    def __init__(self) -> None:
        """Start without events."""
        self._events: list[tuple[float, int, int, Callable[..., None], tuple[Any, ...]]] = []
        self._number = 0

    def at(self, time: float, order: int, action: Callable[..., None], *args: Any) -> None:
        """Call `action` with the time and these arguments at a time."""
        self._number += 1
        heappush(self._events, (time, order, self._number, action, args))

    def run(self, horizon: float) -> None:
        """Process all events up to a time."""
        events = self._events
        while events and events[0][0] <= horizon:
            time, _, _, action, args = heappop(events)
            action(time, *args)
