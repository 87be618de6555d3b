"""Blocked loop: interrupt an async handler that is out of time but does not let the loop cancel it."""

import signal
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from time import monotonic
from types import FrameType

from minutehand.attempts.run import Run, current
from minutehand.attempts.time_limit import MESSAGE, SHORTEST_ALARM, noticing_discarded
from minutehand.calling.event_loop import CLEANUP_SECONDS
from minutehand.model.outcome import OutOfTime

# How long after the deadline the loop should have cancelled the handler.
MARGIN_SECONDS = 0.05


class BlockedLoop:
    """An alarm signal for the earliest deadline of the running attempts."""

    def __init__(self, runs: Collection[Run]) -> None:
        """Watch these attempts, a view that changes as they start and end."""
        self._runs = runs
        self._watching = False
        # The attempt in which OutOfTime was raised last.
        self._raised_in: Run | None = None
        # Until the next alarm: the attempt whose OutOfTime Python discarded.
        self._discarded_in: Run | None = None

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Handle the alarm in this block; only the main thread can."""
        before = signal.signal(signal.SIGALRM, self._ring)
        self._watching = True
        try:
            with noticing_discarded(self._ring_again):
                yield
        finally:
            self._watching = False
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    def arm(self) -> None:
        """Set the alarm, when an attempt has started."""
        if self._watching and self._runs:
            left = min(map(_limit, self._runs)) - monotonic()
            signal.setitimer(signal.ITIMER_REAL, max(left, MARGIN_SECONDS))

    def _ring(self, _signal: int, _frame: FrameType | None) -> None:
        self.arm()
        run = current()
        discarded, self._discarded_in = self._discarded_in, None
        # Other jobs must wait until this one lets the loop go on.
        if run is not None and (run is discarded or _limit(run) <= monotonic()):
            run.out_of_time = True
            run.cancelled = run.cancelled or monotonic()
            self._raised_in = run
            raise OutOfTime(MESSAGE)

    def _ring_again(self, discarded: "sys.UnraisableHookArgs") -> bool:
        """Ring again if Python discarded the OutOfTime; return whether it did."""
        ours = self._raised_in is not None and isinstance(discarded.exc_value, OutOfTime)
        if ours:
            self._discarded_in = self._raised_in
            signal.setitimer(signal.ITIMER_REAL, SHORTEST_ALARM)
        return ours


def _limit(run: Run) -> float:
    """Return the monotonic second at which the loop must have cancelled the handler, or ended it after that."""
    if run.cancelled is None:
        return run.job.lease.deadline + MARGIN_SECONDS
    return run.cancelled + CLEANUP_SECONDS + MARGIN_SECONDS
