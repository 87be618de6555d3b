"""Ends what the emulator started once the emulator has ended, however that ended: its standard input closes.

Lines of `+ 123` and `- 123` say which process groups are alive.
"""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from threading import Lock


class Guard:
    """The process that outlives the emulator for a moment."""

    def __init__(self) -> None:
        """Start it, in a session of its own, so that Ctrl-C at the terminal does not reach it."""
        self._lock = Lock()
        self._process = subprocess.Popen(
            [sys.executable, "-S", "-E", __file__], stdin=subprocess.PIPE, start_new_session=True
        )

    def watch(self, group: int) -> None:
        """End this group when the emulator ends."""
        self._say(f"+ {group}\n")

    def forget(self, group: int) -> None:
        """Let it be: it has ended."""
        self._say(f"- {group}\n")

    def close(self) -> None:
        """End everything that is still watched, and the guard."""
        self._process.communicate()

    def _say(self, line: str) -> None:
        with self._lock, suppress(BrokenPipeError, ValueError):
            assert self._process.stdin is not None
            self._process.stdin.write(line.encode())
            self._process.stdin.flush()


def main() -> None:
    """Wait for the end of the input, then kill what is left."""
    groups: set[int] = set()
    for line in sys.stdin:
        sign, _, group = line.partition(" ")
        (groups.add if sign == "+" else groups.discard)(int(group))
    for pid in groups:
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)


if __name__ == "__main__":
    main()
