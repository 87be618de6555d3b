"""The fleet: Lambda's execution environments, which begin cold, wait warm, and are no more than the concurrency."""

from heapq import heappop, heappush


class Fleet:
    """The environments at a moment; moments only grow."""

    def __init__(self, concurrency: int | None, cold: float, warm: float) -> None:
        """Begin with none."""
        self._most, self._cold, self._warm = concurrency, cold, warm
        self._busy: list[float] = []  # until when
        self._idle: list[float] = []  # since when, the latest last

    def earliest(self, arrived: float) -> float:
        """Return when an invocation that arrived then can begin."""
        self._settle(arrived)
        if self._most is None or len(self._busy) < self._most:
            return arrived
        return self._busy[0]

    def start(self, at: float) -> float:
        """Take an environment; return how long it needs before the handler runs: nothing, or a cold start."""
        self._settle(at)
        if self._idle and at - self._idle.pop() <= self._warm:
            return 0.0
        self._idle.clear()  # the others have waited longer
        return self._cold

    def keep(self, until: float) -> None:
        """Keep the environment that was started until the end of its invocation."""
        heappush(self._busy, until)

    def _settle(self, now: float) -> None:
        while self._busy and self._busy[0] <= now:
            self._idle.append(heappop(self._busy))
