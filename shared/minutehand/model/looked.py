"""Looked: up to which time a worker has seen all due jobs of a queue, so that its next take begins there."""

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

from minutehand.model.reached import MOST_QUEUES

# A worker looks at all due jobs again after this time, in seconds: a job may be passed for as long.
SECONDS = 0.25
# In seconds. A job may become visible after a look although it was due before: its transaction was open meanwhile.
MARGIN = 1.0


@dataclass(frozen=True)
class _Look:
    # When it was sent, and until when the next ones may rely on the one from the beginning, in monotonic seconds.
    sent: float
    until: float


class Looked:
    """The last looks of one worker that found all due jobs, by queue."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        """Begin without any."""
        self._clock = clock
        self._looks: dict[str, _Look] = {}

    def behind(self, queue: str) -> str | None:
        """Return how long before now the next take may begin, or None if it must begin at the beginning.

        A text, because a take with parameters of other types than another one is prepared again. If the statement is
        sent much later, it begins as much later, and may pass a job until the next look at all of them.
        """
        look, now = self._looks.get(queue), self._clock()
        return None if look is None or look.until < now else f"{now - look.sent + MARGIN:.6f} seconds"

    def note(self, queue: str, behind: str | None, sent: float, *, found_all: bool) -> None:
        """Note a take that was sent at a monotonic second and began `behind` its start, or at the beginning.

        `found_all` is false if it may have left due jobs.
        """
        before = self._looks.pop(queue, None)
        if behind is None:
            look = _Look(sent, sent + SECONDS) if found_all else None
        else:
            look = _Look(sent, before.until) if found_all and before is not None else before
        if look is not None:
            if len(self._looks) >= MOST_QUEUES:
                self._looks.clear()
            self._looks[queue] = look
