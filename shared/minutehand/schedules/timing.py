"""Timing: the moments of a schedule, between its start and its end, and how far a job may be from them."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from itertools import islice
from typing import Literal
from zoneinfo import ZoneInfo

from minutehand.model.recurrence import REBOOT, next_after

CatchUp = Literal["none", "last", "all"]
Overlap = Literal["allow", "skip", "replace"]
NOTHING, LEAST = timedelta(), timedelta(microseconds=1)


@dataclass(frozen=True, kw_only=True)
class Timing:
    """When a schedule fires, and what is done about moments that are late, or that come while the last job runs.

    A duration counts from `starts`; without one from the first second of 2001 in the zone, which was a Monday: so P1D
    comes at midnight, P1W on Mondays, P1M on the first and PT15M at the quarters.
    """

    zone: str = "UTC"
    starts: datetime | None = None
    ends: datetime | None = None
    jitter: timedelta = NOTHING
    ahead: timedelta = NOTHING
    catch_up: CatchUp = "none"
    most: int = 100
    overlap: Overlap = "allow"

    def after(self, every: str, moment: datetime) -> datetime | None:
        """Return the first moment of `every` that is later than this; None when it is over."""
        if every == REBOOT:
            return None
        if self.starts is not None:
            moment = max(moment, self.starts - LEAST)
        found = next_after(every, self.zone, moment, anchor=self.starts or beginning(self.zone))
        return None if found is None or (self.ends is not None and found > self.ends) else found

    def between(self, every: str, first: datetime, last: datetime, most: int) -> list[datetime]:
        """Return the moments from `first` to `last`, both included, but no more than the first so many."""
        return list(islice(self._between(every, first, last), most))

    def _between(self, every: str, first: datetime, last: datetime) -> Iterator[datetime]:
        moment = self.after(every, first - LEAST)
        while moment is not None and moment <= last:
            yield moment
            moment = self.after(every, moment)

    def latest(self, every: str, first: datetime, last: datetime, most: int) -> list[datetime]:
        """Return the last so many moments from `first` to `last`, without counting through a long outage."""
        window = timedelta(minutes=10)
        while True:
            begin = max(first, last - window)
            found = self.between(every, begin, last, most * 50)
            if begin == first or len(found) >= most:
                return found[-most:]
            window *= 2

    def run_at(self, name: str, nominal: datetime) -> datetime:
        """Return when the job of a moment runs: the jitter is the same share of the whole for every one of a name."""
        share = int.from_bytes(sha256(name.encode()).digest()[:6]) / 2**48
        return nominal + self.jitter * share


def beginning(zone: str) -> datetime:
    """Return the first second of 2001, by the clocks of a zone."""
    return datetime(2001, 1, 1, tzinfo=UTC if zone == "UTC" else ZoneInfo(zone))
