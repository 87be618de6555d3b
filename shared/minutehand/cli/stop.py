"""How a worker is told to stop: a first signal asks, a second one interrupts the handler that runs."""

import os
import select
import signal
import threading
from types import FrameType

from minutehand.model.outcome import Interrupted


class Stop(threading.Event):
    """A flag that a signal handler may set: an Event's own lock could be held by the very code it interrupts."""

    def __init__(self) -> None:
        """Open the pipe that wakes a waiting worker."""
        super().__init__()
        self._asked = False
        self._awake, self._wake = os.pipe()
        self.interruptible = False

    def listen(self) -> None:
        """Take SIGTERM and SIGINT from now on."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self.ask)

    def ask(self, _number: int, _frame: FrameType | None) -> None:
        """Ask for an end; when that was asked before, interrupt the handler that runs, if one does."""
        if self.interruptible and self._asked:
            self.interruptible = False
            raise Interrupted
        self.set()

    def set(self) -> None:
        """Ask for an end."""
        if not self._asked:
            self._asked = True
            os.write(self._wake, b".")

    def is_set(self) -> bool:
        """Say whether an end was asked for."""
        return self._asked

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until an end is asked for, or for so many seconds; say whether it was."""
        select.select([self._awake], [], [], timeout)
        return self._asked

    def follow(self, file: int) -> None:
        """Ask for an end, too, when the process that holds the other end of this pipe is gone."""

        def watch() -> None:
            while os.read(file, 4096):
                pass
            os.kill(os.getpid(), signal.SIGTERM)

        threading.Thread(target=watch, daemon=True).start()
