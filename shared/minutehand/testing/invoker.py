"""An invoker that starts no worker: it records events and can refuse them."""

from dataclasses import dataclass
from threading import Lock
from typing import Any


class Refused(Exception):
    """The invoker refused an event because the test called `refuse`."""


@dataclass(frozen=True)
class Invocation:
    """An event and the worker function that it was sent to."""

    worker: str
    event: dict[str, Any]


class RecordingInvoker:
    """Replaces Lambda: pass it to `tick` or `fan_out`, then check `accepted` and `refused`.

    A fan-out invokes in parallel, so the order of the invocations of one tick is random.
    """

    def __init__(self) -> None:
        """Start by accepting all events."""
        self.accepted: list[Invocation] = []
        self.refused: list[Invocation] = []
        self._left = 0.0
        self._error: Exception = Refused("the test called refuse()")
        self._lock = Lock()

    @property
    def events(self) -> list[dict[str, Any]]:
        """The accepted events."""
        return [invocation.event for invocation in self.accepted]

    def refuse(self, times: float = float("inf"), error: Exception | None = None) -> None:
        """Refuse the next `times` events, by default all, with this error; 0 accepts again."""
        with self._lock:
            self._left = times
            self._error = error or Refused("the test called refuse()")

    def invoke(self, worker: str, event: dict[str, Any]) -> None:
        """Record an event as accepted, or as refused and raise the error."""
        with self._lock:
            if self._left <= 0:
                self.accepted.append(Invocation(worker, event))
                return
            self._left -= 1
            self.refused.append(Invocation(worker, event))
            raise self._error
