"""An invoker that starts no worker: it keeps what it was handed, and refuses when it is told to."""

from dataclasses import dataclass
from threading import Lock
from typing import Any


class Refused(Exception):
    """The invoker was told not to accept this event."""


@dataclass(frozen=True)
class Invocation:
    """An event, and the worker function that it was meant for."""

    worker: str
    event: dict[str, Any]


class RecordingInvoker:
    """Stands where Lambda does: hand it to `tick` or `fan_out`, then look at what it has `accepted` and `refused`.

    A fan-out hands over many at once, so that the order of the invocations of one tick is a matter of chance.
    """

    def __init__(self) -> None:
        """Accept everything."""
        self.accepted: list[Invocation] = []
        self.refused: list[Invocation] = []
        self._left = 0.0
        self._error: Exception = Refused("refused, as the test ordered")
        self._lock = Lock()

    @property
    def events(self) -> list[dict[str, Any]]:
        """The accepted events."""
        return [invocation.event for invocation in self.accepted]

    def refuse(self, times: float = float("inf"), error: Exception | None = None) -> None:
        """Refuse the next events, all of them if no number is said, with that error; 0 accepts again."""
        with self._lock:
            self._left = times
            self._error = error or Refused("refused, as the test ordered")

    def invoke(self, worker: str, event: dict[str, Any]) -> None:
        """Keep an event, or refuse it."""
        with self._lock:
            if self._left <= 0:
                self.accepted.append(Invocation(worker, event))
                return
            self._left -= 1
            self.refused.append(Invocation(worker, event))
            raise self._error
