"""Waiting: the dispatcher stays inside its minute, and dispatches jobs when they become due.

It polls at most once a second while nothing is due, and returns when no job becomes due before the next tick. While
it waits, processes that enqueue do not invoke another one; see the table `waiting`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from time import monotonic, sleep
from uuid import uuid4

from minutehand.database import Database

# Seconds between two polls.
INTERVAL = 1.0
# Seconds from a poll that found due jobs but no room to the next one. They double up to INTERVAL while that lasts:
# workers take the next due jobs themselves, but one that ended before a job became due has left its room to the
# dispatcher.
NO_ROOM = 0.1
# Seconds from a dispatch to the next: jobs that become due in them are dispatched together, and jobs for which a limit
# had no room are tried again later.
TOGETHER, BLOCKED = 0.1, 2.0
# Seconds until the dispatcher of the next tick has taken over.
LONGEST = 75.0

# Dispatches due jobs, and returns how many were offered.
Dispatch = Callable[[], int]
Pause = Callable[[float], None]


@dataclass
class Waited:
    """The figures of a wait: polls, dispatches, and jobs that these offered."""

    polls: int = 0
    dispatches: int = 0
    offered: int = 0


@dataclass(frozen=True)
class Poll:
    """The result of a poll: whether this dispatcher still waits, and the jobs."""

    waits: bool
    due: bool
    # How many are offered or running.
    busy: int
    # Whether a rate that has none left allows another start in this time.
    rated: bool
    # Until the next job becomes due; None if none does.
    next_seconds: float | None


class Wait:
    """One wait of one invocation."""

    def __init__(
        self, database: Database, dispatch: Dispatch, seconds: float, capacity: int, pause: Pause = sleep
    ) -> None:
        """Prepare to wait for at most `seconds`."""
        self._database, self._dispatch, self._pause = database, dispatch, pause
        self._capacity = capacity
        self._end = monotonic() + min(seconds, LONGEST)
        self._id = uuid4()
        self._tried, self._blocked = 0.0, False
        self._until_room = 0.0
        self.waited = Waited()

    def after_tick(self) -> Waited:
        """Wait after a tick of the schedule, and take over from the dispatcher that waits."""
        return self._run(waits=self._begin(scheduled=True))

    def when_woken(self) -> Waited:
        """Dispatch due jobs, and wait unless another dispatcher does."""
        waits = self._begin(scheduled=False)
        self._try()
        return self._run(waits=waits)

    def _run(self, *, waits: bool) -> Waited:
        while waits:
            while self._go_on(self._poll()):
                pass
            # From now on, a process that enqueues invokes another dispatcher; jobs from before are found below.
            if not self._database.run("end_wait", waiter=self._id) or not self._find_last():
                break
            waits = self._begin(scheduled=False)
        return self.waited

    def _begin(self, *, scheduled: bool) -> bool:
        left = timedelta(seconds=max(0.0, self._end - monotonic()))
        return bool(self._database.run("begin_wait", waiter=self._id, lasts=left, scheduled=scheduled))

    def _poll(self) -> Poll:
        self.waited.polls += 1
        left = timedelta(seconds=max(0.0, self._end - monotonic()))
        (record,) = self._database.run("poll", waiter=self._id, lasts=left, capacity=self._capacity)
        found = Poll(**record)
        is_full = found.due and found.busy >= self._capacity
        self._until_room = min(INTERVAL, max(NO_ROOM, 2 * self._until_room)) if is_full else 0.0
        return found

    def _go_on(self, found: Poll) -> bool:
        """Sleep, and dispatch when a job is due; return False if there is nothing to wait for."""
        now = monotonic()
        at = self._next(found, now)
        if not found.waits or at > self._end:
            return False
        if at > now:
            self._pause(min(at - now, INTERVAL))
        if monotonic() >= at and found.busy < self._capacity:
            self._try()
        return True

    def _next(self, found: Poll, now: float) -> float:
        """Return the monotonic second at which to dispatch, or to poll again for free capacity; infinity for none."""
        due = (
            math.inf if found.next_seconds is None else max(now + found.next_seconds, self._tried + TOGETHER)
        )
        if not found.due:
            return due
        if found.busy >= self._capacity:
            return now + self._until_room
        # Nothing makes room for paused jobs.
        retried = self._tried + BLOCKED if found.busy or found.rated else math.inf
        return min(due, retried if self._blocked else self._tried + TOGETHER)

    def _try(self) -> int:
        offered = self._dispatch()
        self._tried, self._blocked = monotonic(), not offered
        self.waited.dispatches += 1
        self.waited.offered += offered
        return offered

    def _find_last(self) -> bool:
        """Dispatch due jobs after the end; return whether there is something to wait for again."""
        found = self._poll()
        if monotonic() > self._end:
            return False
        offered = self._try() if found.due and found.busy < self._capacity else 0
        return offered > 0 or self._next(found, monotonic()) <= self._end
