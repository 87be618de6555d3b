"""Pool: the local execution environments of a function; each process handles one event at a time."""

import json
import os
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Condition, Thread, Timer
from time import monotonic
from typing import Any

from minutehand.local.environment import RESPONSE

Listener = Callable[[str, dict[str, Any]], None]

# The first environments start at once. An additional one starts if an event has waited this long: all others are busy.
FIRST, PATIENCE_SECONDS = 2, 0.5


@dataclass
class Pool:
    """A function, its processes and its pending events.

    `listen` is called for each line that the function logs, and for each environment that crashed.
    """

    name: str
    directory: Path
    size: int
    listen: Listener
    environment: Mapping[str, str] = field(default_factory=dict)
    timeout: float = 60.0
    _events: deque[tuple[float, dict[str, Any]]] = field(default_factory=deque)
    _changed: Condition = field(default_factory=Condition)
    _processes: dict[int, subprocess.Popen[str]] = field(default_factory=dict)
    _threads: list[Thread] = field(default_factory=list)
    _outdated: set[int] = field(default_factory=set)
    _closing: bool = False

    def start(self) -> None:
        """Start the environments; a process starts with the first event."""
        self._threads = [Thread(target=self._serve, args=(slot,), daemon=True) for slot in range(self.size)]
        for thread in self._threads:
            thread.start()

    def invoke(self, event: dict[str, Any]) -> None:
        """Queue an event for the next free environment."""
        with self._changed:
            self._events.append((monotonic(), event))
            self._changed.notify_all()

    def reload(self) -> None:
        """Start new processes for the next events, because the code has changed; current events are finished first."""
        self._outdated.update(list(self._processes))

    def close(self) -> None:
        """End the processes after their current events."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join(timeout=10)
        for process in self._processes.values():
            process.kill()
            process.wait()

    def _serve(self, slot: int) -> None:
        while (event := self._next(slot)) is not None:
            self._run(slot, event)
        if (process := self._processes.pop(slot, None)) is not None:
            _end(process)

    def _next(self, slot: int) -> dict[str, Any] | None:
        """Return the next event for an environment, or None at the end."""
        with self._changed:
            while not self._closing:
                patience = self._patience(slot)
                if patience is not None and patience <= 0:
                    return self._events.popleft()[1]
                self._changed.wait(patience)
        return None

    def _patience(self, slot: int) -> float | None:
        """Return how many seconds an environment leaves the next event to others; None if there is no event."""
        if not self._events:
            return None
        if slot < FIRST or slot in self._processes:
            return 0.0
        return self._events[0][0] + PATIENCE_SECONDS - monotonic()

    def _run(self, slot: int, event: dict[str, Any]) -> None:
        self._end_outdated(slot)
        process = self._processes.get(slot) or self._spawn(slot)
        kill = Timer(self.timeout, process.kill)
        kill.start()
        try:
            _input(process).write(json.dumps(event) + "\n")
            _input(process).flush()
            answered = self._relay(process)
        except BrokenPipeError:
            answered = False
        finally:
            kill.cancel()
        if not answered:
            self._processes.pop(slot)
            self.listen(self.name, {"message": "crashed", "exit": process.wait()})

    def _end_outdated(self, slot: int) -> None:
        if slot in self._outdated:
            self._outdated.discard(slot)
            if (process := self._processes.pop(slot, None)) is not None:
                _end(process)

    def _relay(self, process: subprocess.Popen[str]) -> bool:
        """Forward the function's log until it answers; return False if it exited instead."""
        for line in process.stdout or ():
            if line.startswith(RESPONSE):
                response = json.loads(line[1:])
                if "error" in response:
                    self.listen(self.name, {"message": "failed", "error": response["error"]})
                return True
            if line.strip():
                self._tell(line)
        return False

    def _tell(self, line: str) -> None:
        try:
            self.listen(self.name, parsed(line))
        # A handler may print a line that looks like one of ours.
        except (KeyError, TypeError, ValueError, AttributeError):
            self.listen(self.name, {"message": "printed", "text": line.rstrip()})

    def _spawn(self, slot: int) -> subprocess.Popen[str]:
        command = [
            sys.executable,
            "-m",
            "minutehand.local.environment",
            str(self.directory),
            self.name,
            str(self.timeout),
        ]
        # In a new session, so that Ctrl-C in the terminal reaches only the parent.
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
            env={**os.environ, **self.environment},
        )
        self._processes[slot] = process
        return process


def _input(process: subprocess.Popen[str]) -> Any:
    return process.stdin


def _end(process: subprocess.Popen[str]) -> None:
    # Closes the pipes, and waits.
    with process:
        _input(process).close()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()


def parsed(line: str) -> dict[str, Any]:
    """Parse a logged line: return its JSON object, or its text."""
    try:
        parsed = json.loads(line)
    except ValueError:
        parsed = None
    return parsed if isinstance(parsed, dict) else {"message": "printed", "text": line.rstrip()}
