"""Clock: the time of the asynchronous queue, which may run faster than real time or be advanced manually."""

import time
from threading import Condition


class Clock:
    """A time in seconds since 1970 that runs at `speed`; with 0 only `advance` changes it.

    Waiting holds `changed`, which `advance` and the queue notify.
    """

    def __init__(self, speed: float = 1.0) -> None:
        """Start at the current time."""
        self.changed = Condition()
        self.speed = speed
        self._ahead = time.time()
        self._began = time.monotonic()

    def now(self) -> float:
        """Return the time."""
        return self._ahead + (time.monotonic() - self._began) * self.speed

    def advance(self, seconds: float) -> None:
        """Advance the time."""
        with self.changed:
            self._ahead += seconds
            self.changed.notify_all()

    def wait_until(self, moment: float | None) -> None:
        """Wait for a moment or a notification; the caller holds `changed`."""
        if moment is None or not self.speed:
            self.changed.wait()
        elif (left := (moment - self.now()) / self.speed) > 0:
            self.changed.wait(left)
