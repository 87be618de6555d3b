"""Reached: up to which due job a worker has taken the jobs of a queue, so that its next take begins there."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from time import monotonic
from typing import Any, TypedDict
from uuid import UUID

from minutehand.model.turns import time_until_next

# A worker looks for the first due job, which may be before the place that it has reached, once a second. If the search
# takes longer than 0.05 seconds, the next one follows after twenty times as long, and at most a minute.
SECONDS, LONGEST_SECONDS = 1.0, 60.0
# Of queues; a worker that serves more forgets all of them.
MOST_QUEUES = 100


class After(TypedDict):
    """The last due job that was taken, as parameters of a take; nulls for a take from the beginning."""

    after_priority: int | None
    after_visible: datetime | None
    after_id: UUID | None


BEGINNING = After(after_priority=None, after_visible=None, after_id=None)


@dataclass(frozen=True)
class _Place:
    after: After
    # In monotonic seconds.
    until: float


class Reached:
    """The places that the takes of one worker have reached, by queue."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        """Begin at the beginning."""
        self._clock = clock
        self._places: dict[str, _Place] = {}

    def __contains__(self, queue: str) -> bool:
        """Whether the last take of a queue noted a place."""
        return queue in self._places

    def after(self, queue: str) -> After:
        """Return where the next take of a queue begins."""
        place = self._places.get(queue)
        return BEGINNING if place is None or place.until < self._clock() else place.after

    def note(self, queue: str, began: After, rows: list[dict[str, Any]], seconds: float) -> None:
        """Note how far a take came, of these rows, which began after a place and took some seconds.

        Without a place in one of the rows, the next take begins at the beginning.
        """
        before = self._places.pop(queue, None)
        reached = next((row for row in rows if row["reached"] is not None), None)
        if reached is None:
            return
        if before is not None and began is not BEGINNING:
            until = before.until
        else:
            until = self._clock() + time_until_next(seconds, SECONDS, LONGEST_SECONDS)
        if len(self._places) >= MOST_QUEUES:
            self._places.clear()
        self._places[queue] = _Place(
            After(
                after_priority=reached["priority"], after_visible=reached["reached"], after_id=reached["id"]
            ),
            until,
        )
