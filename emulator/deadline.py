"""Deadline: the time limit of an invocation, which can be restarted, paused and cancelled."""

from collections.abc import Callable
from threading import RLock, Timer
from time import monotonic


class Deadline:
    """Call `expire` after a number of seconds, unless it is cancelled."""

    def __init__(self, seconds: float, expire: Callable[[], None]) -> None:
        """Start the time."""
        self._expire = expire
        self._lock = RLock()
        self._timer: Timer | None = None
        self._over = self._paused = False
        self.begin(seconds)

    def begin(self, seconds: float) -> None:
        """Restart with this number of seconds."""
        with self._lock:
            self._left = seconds
            if not self._paused:
                self.resume()

    def pause(self) -> None:
        """Pause the time."""
        with self._lock:
            if self._timer is not None and not self._paused:
                self._timer.cancel()
                self._left -= monotonic() - self._since
            self._paused = True

    def resume(self) -> None:
        """Continue the time."""
        with self._lock:
            self._paused = False
            if self._timer is not None:
                self._timer.cancel()
            if not self._over:
                self._since = monotonic()
                self._timer = Timer(max(0.0, self._left), self._end)
                self._timer.daemon = True
                self._timer.start()

    def cancel(self) -> None:
        """Cancel the deadline."""
        with self._lock:
            self._over = True
            if self._timer is not None:
                self._timer.cancel()

    def _end(self) -> None:
        with self._lock:
            over, self._over = self._over, True
        if not over:
            self._expire()
