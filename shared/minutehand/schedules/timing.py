"""Timing: the occurrences of a schedule between its start and its end."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from itertools import islice
from typing import Literal

from minutehand.model.recurrence import REBOOT, next_after
from minutehand.model.zones import zone_of

CatchUp = Literal["none", "last", "all"]
Overlap = Literal["allow", "skip", "replace"]
NOTHING, LEAST = timedelta(), timedelta(microseconds=1)
# No schedule has more than a few occurrences in it.
NARROWEST = timedelta(seconds=1)


@dataclass(frozen=True, kw_only=True)
class Timing:
    """When a schedule fires, and how late or overlapping occurrences are handled.

    A duration counts from `starts`. Without `starts` it counts from the first second of 2001 in the zone, a Monday, so
    that P1D fires at midnight, P1W on Mondays, P1M on the first day and PT15M at each quarter of an hour.
    """

    zone: str = "UTC"
    starts: datetime | None = None
    ends: datetime | None = None
    jitter: timedelta = NOTHING
    ahead: timedelta = NOTHING
    catch_up: CatchUp = "none"
    max_catch_up: int = 100
    overlap: Overlap = "allow"

    def after(self, every: str, moment: datetime) -> datetime | None:
        """Return the first occurrence of `every` after this one; None after the end."""
        if every == REBOOT:
            return None
        if self.starts is not None:
            moment = max(moment, self.starts - LEAST)
        found = next_after(every, self.zone, moment, anchor=self.starts or beginning(self.zone))
        return None if found is None or (self.ends is not None and found > self.ends) else found

    def between(self, every: str, first: datetime, last: datetime, limit: int) -> list[datetime]:
        """Return the occurrences from `first` to `last`, both included, limited to the earliest."""
        return list(islice(self._between(every, first, last), limit))

    def _between(self, every: str, first: datetime, last: datetime) -> Iterator[datetime]:
        moment = self.after(every, first - LEAST)
        while moment is not None and moment <= last:
            yield moment
            moment = self.after(every, moment)

    def latest(self, every: str, first: datetime, last: datetime, limit: int) -> list[datetime]:
        """Return the latest occurrences from `first` to `last`.

        The window that is searched becomes longer until it has enough of them, and shorter if it has far too many. So
        not all of a long outage is computed, nor all seconds of a day.
        """
        most, window = max(50, 2 * limit), timedelta(minutes=10)
        # The longest window with too few, and the shortest with too many.
        shorter, longer = NOTHING, NOTHING
        while True:
            begin = max(first, last - window)
            found = self.between(every, begin, last, most + 1)
            if len(found) > most and window - shorter > NARROWEST:
                longer = window
            elif len(found) >= limit or begin == first:
                return found[-limit:]
            else:
                shorter = window
            window = shorter + (longer - shorter) / 2 if longer else window * 2

    def run_at(self, name: str, nominal: datetime) -> datetime:
        """Return when the job of an occurrence runs; the jitter is a fixed fraction for each name."""
        fraction = int.from_bytes(sha256(name.encode()).digest()[:6]) / 2**48
        return nominal + self.jitter * fraction


def beginning(zone: str) -> datetime:
    """Return the first second of 2001 in a zone."""
    return datetime(2001, 1, 1, tzinfo=zone_of(zone))
