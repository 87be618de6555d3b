"""Lambda's execution environments: they start cold, stay warm for a while, and are limited by the concurrency."""

from heapq import heappop, heappush


class Fleet:
    """The environments at a point in time, which only moves forward."""

    def __init__(self, concurrency: int | None, cold: float, warm: float) -> None:
        """Start with no environment."""
        self._concurrency, self._cold, self._warm = concurrency, cold, warm
        # The end of each running invocation.
        self._busy: list[float] = []
        # When each idle environment became idle, the latest last.
        self._idle: list[float] = []

    def earliest(self, arrived: float) -> float:
        """Return when an invocation that arrived then can start."""
        self._release(arrived)
        if self._concurrency is None or len(self._busy) < self._concurrency:
            return arrived
        return self._busy[0]

    def start(self, at: float) -> float:
        """Take an environment; return the seconds of its cold start, or 0 if it is warm."""
        self._release(at)
        if self._idle and at - self._idle.pop() <= self._warm:
            return 0.0
        # The others have been idle for longer, so they are gone too.
        self._idle.clear()
        return self._cold

    def occupy(self, until: float) -> None:
        """Keep the environment that was started last busy until the end of its invocation."""
        heappush(self._busy, until)

    def _release(self, now: float) -> None:
        while self._busy and self._busy[0] <= now:
            self._idle.append(heappop(self._busy))
