"""How many sessions may read from the database, so that the queue's own statements stay fast.

The rule is that of TCP's congestion control (RFC 5681): one session more while the latency of a small statement stays
the same, and half as many when it doubles. The latency is compared with that of a moment ago, while nothing was read,
so that load from elsewhere does not stop an archive.
"""

from collections import deque
from statistics import quantiles

# Probes before a decision. The p99 of so many is near their second-highest value, which one outlier does not change.
PROBES = 100
# At this ratio of the latencies, fewer sessions read; below the other, one more.
DOUBLED, SIMILAR = 2.0, 1.4
# After so many decisions nothing is read for so many probes, to measure the latency without reads again.
CALM_EVERY, CALM_PROBES = 5, 20
# The probes of a pause, at first and at most. It doubles as long as even one session disturbs.
PAUSE, LONGEST_PAUSE = 50, 1600


class Pace:
    """Decides from measured latencies how many slots are open. It knows no clock and no database."""

    def __init__(self, slots: int) -> None:
        """Begin with a pause, which measures the latency without reads. At most `slots` open."""
        self.slots, self.open = slots, 0
        self._calm: deque[float] = deque(maxlen=PROBES)
        self._busy: list[float] = []
        self._next, self._left, self._pause, self._periods = 1, PROBES, PAUSE, 0

    def note(self, seconds: float) -> None:
        """Note the latency of a probe, after which `open` may have another value."""
        if self.open == 0:
            self._calm.append(seconds)
            self._left -= 1
            if self._left == 0:
                self.open = self._next
        else:
            self._busy.append(seconds)
            if len(self._busy) == PROBES:
                self._decide(p99(self._busy) / p99(self._calm))

    def _decide(self, ratio: float) -> None:
        self._busy.clear()
        self._periods += 1
        if ratio >= DOUBLED and self.open == 1:
            self._stop(self._pause)
            self._pause = min(2 * self._pause, LONGEST_PAUSE)
        elif ratio >= DOUBLED:
            self.open //= 2
        else:
            self._pause = PAUSE
            if ratio < SIMILAR:
                self.open = min(self.open + 1, self.slots)
            if self._periods % CALM_EVERY == 0:
                self._stop(CALM_PROBES)

    def _stop(self, probes: int) -> None:
        """Read nothing for as long as so many probes, then continue with as many slots as now."""
        self._next, self._left, self.open = self.open, probes, 0


def p99(latencies: "list[float] | deque[float]") -> float:
    """Return the 99th percentile."""
    return quantiles(latencies, n=100, method="inclusive")[-1]
