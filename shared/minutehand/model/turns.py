"""Turns: decide from which queue a worker takes its next jobs."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from math import inf
from time import monotonic

from minutehand.model.queues import Queues

# A worker with short jobs searches for queues with due jobs this often. For so long a new job of another queue waits.
# If a search takes longer than 0.005 seconds, the next one follows after twenty times as long, and at most a second.
SEARCH_SECONDS, LONGEST_SEARCH_SECONDS = 0.1, 1.0
SHARE = 20


def time_until_next(seconds: float, shortest: float, longest: float) -> float:
    """Return after how many seconds a search that took some seconds is repeated: twenty times as many, in bounds."""
    return max(shortest, min(SHARE * seconds, longest))


class Turns:
    """The order in which a worker's queues are served: start-time fair queueing (Goyal, Vin and Cheng, 1996).

    Time is virtual: a job of a queue with weight 3 takes a third of a unit. The next jobs come from the queue whose
    last ones ended first. A queue that had no due job starts at the present, so that it gains nothing from idling.
    """

    def __init__(self, queues: Queues, clock: Callable[[], float] = monotonic) -> None:
        """Serve these queues."""
        self.queues, self._clock = queues, clock
        self._now = 0.0
        # When the last jobs taken from a queue end; only ends after `now` are stored.
        self._ends: dict[str, float] = {}
        # The result of the last search for due jobs, and its monotonic second.
        self._late: dict[str, timedelta] = {}
        self._searched, self._lasts = -inf, SEARCH_SECONDS

    def order(self, late: Mapping[str, timedelta]) -> list[str]:
        """Return the queues in the order of their turns; `late` is how long each queue's oldest job has been due."""
        if self.queues.strict:
            return [queue for queue in self.queues.weights if queue in late]
        served = [queue for queue in late if not self.queues.weights or queue in self.queues.weights]
        if len(served) > 1:
            served.sort(key=lambda queue: (self._start(queue), -late[queue]))
        return served

    def next(self) -> str | None:
        """Return the queue whose turn it is, or None if this needs a search for due jobs."""
        return self.queues.only or next(iter(self.order(self.remembered())), None)

    def remember(self, late: Mapping[str, timedelta], seconds: float = 0.0) -> None:
        """Remember which queues have due jobs, after a search that took some seconds."""
        self._late, self._searched = dict(late), self._clock()
        self._lasts = time_until_next(seconds, SEARCH_SECONDS, LONGEST_SEARCH_SECONDS)

    def remembered(self) -> Mapping[str, timedelta]:
        """Return the queues that had due jobs at the last search, if it is recent; none for a strict order."""
        recent = self._clock() - self._searched < self._lasts and not self.queues.strict
        return self._late if recent else {}

    def forget(self, queue: str) -> None:
        """Forget a queue that has no further due job."""
        self._late.pop(queue, None)

    def count(self, queue: str, jobs: int) -> None:
        """Record that jobs were taken from a queue."""
        self._now = self._start(queue)
        self._ends[queue] = self._now + jobs / self.queues.weights.get(queue, 1)
        self._ends = {name: end for name, end in self._ends.items() if end > self._now}

    def _start(self, queue: str) -> float:
        return self._ends.get(queue, self._now)
