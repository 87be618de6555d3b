"""Stopping a worker: the first signal requests it; the second one, or a timeout, interrupts the running handlers."""

import os
import select
import signal
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from types import FrameType

from minutehand.calling.interrupts import interrupt

REPEAT_SECONDS = 0.2


class Stop(threading.Event):
    """An event that is safe to set in a signal handler: the interrupted code may hold the lock of a plain Event."""

    def __init__(self) -> None:
        """Open the pipe that wakes a waiting worker."""
        super().__init__()
        self._requested = False
        self._awake, self._wake = os.pipe()
        self._interruptible = False
        self._urgent = False

    def listen(self, timeout: timedelta | None = None) -> None:
        """Handle SIGTERM and SIGINT. This long after the first one, act as on a second one."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self.request)
        if timeout is not None:
            # Started before any signal: a signal handler must not start a thread, whose locks may be held.
            self._in_background(lambda: self._signal_later(timeout.total_seconds()))

    def allow_interrupts(self, allowed: bool) -> None:
        """Let a second signal interrupt the handlers that run from now on; it may have arrived already."""
        self._interruptible = allowed
        self._interrupt_if_urgent()

    def request(self, _number: int, _frame: FrameType | None) -> None:
        """Request a stop; if one was requested before, interrupt the running handler."""
        self._urgent = self._requested
        self.set()
        self._interrupt_if_urgent()

    def _interrupt_if_urgent(self) -> None:
        if self._interruptible and self._urgent:
            if threading.current_thread() is not threading.main_thread():
                # The signal handler runs in the main thread.
                os.kill(os.getpid(), signal.SIGTERM)
                return
            self._interruptible = False
            interrupt()

    def _signal_later(self, seconds: float) -> None:
        select.select([self._awake], [], [])
        time.sleep(seconds)
        # Repeated, because a signal that arrives just before a system call does not interrupt the call.
        while True:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(REPEAT_SECONDS)

    def set(self) -> None:
        """Request a stop."""
        if not self._requested:
            self._requested = True
            os.write(self._wake, b".")

    def is_set(self) -> bool:
        """Return whether a stop was requested."""
        return self._requested

    @property
    def is_repeated(self) -> bool:
        """Whether a signal came after the stop was requested."""
        return self._urgent

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

        self._in_background(watch)

    @staticmethod
    def _in_background(call: Callable[[], object]) -> None:
        threading.Thread(target=call, daemon=True).start()
