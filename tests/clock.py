"""Clock: a clock that a test moves."""


class Clock:
    """Seconds that pass only if a test lets them."""

    def __init__(self, now: float = 0.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now
