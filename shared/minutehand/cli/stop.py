"""Stopping a worker: the first signal requests it, the second one interrupts the running handler."""

import os
import select
import signal
import threading
from types import FrameType

from minutehand.model.outcome import Interrupted


class Stop(threading.Event):
    """An event that is safe to set in a signal handler: the interrupted code may hold the lock of a plain Event."""

    def __init__(self) -> None:
        """Open the pipe that wakes a waiting worker."""
        super().__init__()
        self._requested = False
        self._awake, self._wake = os.pipe()
        self.interruptible = False

    def listen(self) -> None:
        """Handle SIGTERM and SIGINT."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self.request)

    def request(self, _number: int, _frame: FrameType | None) -> None:
        """Request a stop; if one was requested before, interrupt the running handler."""
        if self.interruptible and self._requested:
            self.interruptible = False
            raise Interrupted
        self.set()

    def set(self) -> None:
        """Request a stop."""
        if not self._requested:
            self._requested = True
            os.write(self._wake, b".")

    def is_set(self) -> bool:
        """Return whether a stop was requested."""
        return self._requested

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for a stop request or a timeout in seconds; return whether a stop was requested."""
        select.select([self._awake], [], [], timeout)
        return self._requested

    def follow(self, file: int) -> None:
        """Also request a stop when the process at the other end of this pipe exits."""

        def watch() -> None:
            while os.read(file, 4096):
                pass
            os.kill(os.getpid(), signal.SIGTERM)

        threading.Thread(target=watch, daemon=True).start()
