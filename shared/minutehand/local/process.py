"""Process: an execution environment of a function, as the local run sees it."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Timer
from typing import Any

from minutehand.local.environment import INTERRUPT, RESPONSE, STOP

END_SECONDS = 10.0
# The last line of an attempt, by its message.
ENDS = {"done", "retried", "snoozed", "released", "dead", "expired", "cancelled", "superseded", "lost"}
# How a process ends that was asked to: by itself, or because it was still starting.
ENDED_BY_US = {0, -STOP, -INTERRUPT}

Tell = Callable[[dict[str, Any]], None]


class Process:
    """A process that loads a function and handles one event at a time."""

    def __init__(
        self, name: str, directory: Path, timeout: float, environment: Mapping[str, str], tell: Tell
    ) -> None:
        """Start the process. `tell` is called for each line that the function logs."""
        self._timeout, self._tell = timeout, tell
        self._running: set[str] = set()
        command = [sys.executable, "-m", "minutehand.local.environment", str(directory), name, str(timeout)]
        # In a new session, so that Ctrl-C in the terminal reaches only the parent.
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
            env={**os.environ, **environment},
        )

    @property
    def running(self) -> int:
        """The number of jobs whose attempts have begun and not ended, by what the function has logged."""
        return len(self._running)

    def handle(self, event: dict[str, Any]) -> bool:
        """Handle an event within the timeout; return False if the process exited instead of answering."""
        kill = Timer(self._timeout, self._process.kill)
        kill.start()
        try:
            self._input.write(json.dumps(event) + "\n")
            self._input.flush()
            return self._relay()
        except BrokenPipeError:
            return False
        finally:
            kill.cancel()
            self._running.clear()

    def wait(self) -> int:
        """Wait until the process has exited, and return its exit code."""
        with self._closed() as process:
            return process.wait()

    def stop(self) -> None:
        """Let the event end early: the function starts no further jobs."""
        self._process.send_signal(STOP)

    def interrupt(self) -> None:
        """Interrupt the event: the function releases its jobs, and the process exits."""
        self._process.send_signal(INTERRUPT)

    def kill(self) -> None:
        """End the process, and those that its handlers have started, at once."""
        # Also if it has exited: the others may go on, and hold its output.
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def end(self) -> None:
        """End the process between two events."""
        with self._closed() as process:
            try:
                process.wait(timeout=END_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()

    @contextmanager
    def _closed(self) -> Iterator[subprocess.Popen[str]]:
        """Close the input; at the end of this block, close the output, wait, and end what its handlers have started."""
        with self._process as process:
            # It may have exited.
            with suppress(BrokenPipeError):
                self._input.close()
            yield process
        self.kill()

    @property
    def _input(self) -> Any:
        return self._process.stdin

    def _relay(self) -> bool:
        """Forward the function's log until it answers; return False if it exited instead."""
        for line in self._process.stdout or ():
            if line.startswith(RESPONSE):
                response = json.loads(line[1:])
                if "error" in response:
                    self._tell({"message": "failed", "error": response["error"]})
                return True
            if line.strip():
                self._forward(line)
        return False

    def _forward(self, line: str) -> None:
        # A handler may print a line that looks like one of ours.
        try:
            self._count(found := parsed(line))
            self._tell(found)
        except (KeyError, TypeError, ValueError, AttributeError):
            self._tell({"message": "printed", "text": line.rstrip()})

    def _count(self, line: dict[str, Any]) -> None:
        if line.get("message") == "claimed":
            self._running.add(line["job"])
        elif line.get("message") in ENDS:
            self._running.discard(line["job"])


def parsed(line: str) -> dict[str, Any]:
    """Parse a logged line: return its JSON object, or its text."""
    try:
        parsed = json.loads(line)
    except ValueError:
        parsed = None
    return parsed if isinstance(parsed, dict) else {"message": "printed", "text": line.rstrip()}
