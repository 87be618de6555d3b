"""Lambda's execution environments: they start cold, stay warm for a while, and are limited by the concurrency."""


class Fleet:
    """The environments at a point in time, which only moves forward."""

    def __init__(self, concurrency: int | None, cold: float, warm: float) -> None:
        """Start with no environment."""
        self._concurrency, self._cold, self._warm = concurrency, cold, warm
        self._busy = 0
        # When each idle environment became idle, the latest last.
        self._idle: list[float] = []

    @property
    def full(self) -> bool:
        """Whether no further invocation can start."""
        return self._concurrency is not None and self._busy >= self._concurrency

    def start(self, at: float) -> float:
        """Take an environment; return the seconds of its cold start, or 0 if it is warm."""
        self._busy += 1
        if self._idle and at - self._idle.pop() <= self._warm:
            return 0.0
        # The others have been idle for longer, so they are gone too.
        self._idle.clear()
        return self._cold

    def end(self, at: float) -> None:
        """Return the environment of an invocation that ended."""
        self._busy -= 1
        self._idle.append(at)
