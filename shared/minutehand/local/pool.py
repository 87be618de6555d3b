"""Pool: the local execution environments of a function; each process handles one event at a time."""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Condition, Thread
from time import monotonic
from typing import Any

from minutehand.local.process import ENDED_BY_US, Process
from minutehand.local.stopping import GRACE_SECONDS, never

Listener = Callable[[str, dict[str, Any]], None]

# The first environments start at once. An additional one starts if an event has waited this long: all others are busy.
FIRST, PATIENCE_SECONDS = 2, 0.5
# The time in which an interrupted function releases its jobs, and a killed process exits.
RELEASE_SECONDS, EXIT_SECONDS = 3.0, 3.0
POLL_SECONDS = 0.05


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
    _processes: dict[int, Process] = field(default_factory=dict)
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

    @property
    def running(self) -> int:
        """The number of jobs that run now."""
        return sum(process.running for process in self._all())

    def stop(self) -> None:
        """Start no further events, and no further jobs of current ones."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        for process in self._all():
            process.stop()

    def close(self, urgent: Callable[[], bool] = never, grace: float = GRACE_SECONDS) -> bool:
        """End the processes after their current events; return whether one was interrupted.

        Events are interrupted after `grace` seconds, or once `urgent` returns true. Processes that go on are killed.
        """
        self.stop()
        if self._ended(grace, urgent):
            return False
        for process in self._all():
            process.interrupt()
        if not self._ended(RELEASE_SECONDS):
            for process in self._all():
                process.kill()
            self._ended(EXIT_SECONDS)
        return True

    def _ended(self, seconds: float, urgent: Callable[[], bool] = never) -> bool:
        """Wait until all processes have ended, for so long or until it is urgent; return whether they have."""
        deadline = monotonic() + seconds
        while running := next((thread for thread in self._threads if thread.is_alive()), None):
            if urgent() or monotonic() >= deadline:
                return False
            running.join(POLL_SECONDS)
        return True

    def _all(self) -> list[Process]:
        # A copy made in one step, because the threads add and remove processes meanwhile.
        return list(self._processes.values())

    def _serve(self, slot: int) -> None:
        while (event := self._next(slot)) is not None:
            self._run(slot, event)
        if (process := self._processes.get(slot)) is not None:
            process.end()
            del self._processes[slot]

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
        if not process.handle(event):
            code = process.wait()
            del self._processes[slot]
            if not (self._closing and code in ENDED_BY_US):
                self.listen(self.name, {"message": "crashed", "exit": code})

    def _end_outdated(self, slot: int) -> None:
        if slot in self._outdated:
            self._outdated.discard(slot)
            if (process := self._processes.pop(slot, None)) is not None:
                process.end()

    def _spawn(self, slot: int) -> Process:
        process = Process(
            self.name,
            self.directory,
            self.timeout,
            self.environment,
            lambda line: self.listen(self.name, line),
        )
        self._processes[slot] = process
        if self._closing:
            # The pool was stopped before it knew this process.
            process.stop()
        return process
