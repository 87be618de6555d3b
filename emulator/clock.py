"""The time of the asynchronous queue: as fast as the real one, faster, or only when it is told to pass."""

import time
from threading import Condition


class Clock:
    """Tells a time, in seconds since 1970, that passes at `speed`; at 0 it passes only by `advance`.

    Who waits for a moment holds `changed`, which is also told of every other news.
    """

    def __init__(self, speed: float = 1.0) -> None:
        """Begin now."""
        self.changed = Condition()
        self.speed = speed
        self._ahead = time.time()
        self._began = time.monotonic()

    def now(self) -> float:
        """Tell the time."""
        return self._ahead + (time.monotonic() - self._began) * self.speed

    def advance(self, seconds: float) -> None:
        """Let time pass at once."""
        with self.changed:
            self._ahead += seconds
            self.changed.notify_all()

    def wait_until(self, moment: float | None) -> None:
        """Wait for a moment or for news, whichever is first; `changed` is held."""
        if moment is None or not self.speed:
            self.changed.wait()
        elif (left := (moment - self.now()) / self.speed) > 0:
            self.changed.wait(left)
