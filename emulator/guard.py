"""Guard: kill the processes of the emulator when it ends and the standard input closes.

The lines `+ 123` and `- 123` add and remove a process group.
"""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from threading import Lock


class Guard:
    """A process that outlives the emulator."""

    def __init__(self) -> None:
        """Start it in a new session, so that Ctrl-C does not reach it."""
        self._lock = Lock()
        self._process = subprocess.Popen(
            [sys.executable, "-S", "-E", __file__], stdin=subprocess.PIPE, start_new_session=True
        )

    def watch(self, group: int) -> None:
        """Kill this process group when the emulator ends."""
        self._send(f"+ {group}\n")

    def forget(self, group: int) -> None:
        """Stop watching a process group that has ended."""
        self._send(f"- {group}\n")

    def close(self) -> None:
        """Kill all watched process groups and end the guard."""
        self._process.communicate()

    def _send(self, line: str) -> None:
        with self._lock, suppress(BrokenPipeError, ValueError):
            assert self._process.stdin is not None
            self._process.stdin.write(line.encode())
            self._process.stdin.flush()


def main() -> None:
    """Wait for the end of the input, then kill the watched process groups."""
    groups: set[int] = set()
    for line in sys.stdin:
        sign, _, group = line.partition(" ")
        (groups.add if sign == "+" else groups.discard)(int(group))
    for pid in groups:
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)


if __name__ == "__main__":
    main()
