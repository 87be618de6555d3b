"""Waking: when a dispatcher looks, in each of the three modes."""

import math
from heapq import heappop, heappush

from minutehand_pipeline.simulate.policy import Policy
from minutehand_pipeline.simulate.tally import Tally

NEVER = math.inf
SLACK = 1e-9  # of an interval: moments are floats


class Waking:
    """The looks that are to come.

    minute: at every moment of the raster. prompt: there, too, and a dispatcher that knows of something due before the
    next one stays up for it; who enqueues what is due offers it himself, if there is room. sleep: at the moments of the
    raster for which an enqueuer, a worker or the look before has left a wake-up, and at every sweep.
    """

    def __init__(self, policy: Policy, tally: Tally) -> None:
        """Begin before the first look."""
        self.mode, self.interval, self.phase = policy.mode, policy.interval, policy.phase
        self.policy, self.tally = policy, tally
        self.hears = policy.mode != "minute"
        self.kicks = policy.mode == "prompt"
        self.last = -NEVER
        self.vain = 0  # looks in a row that offered nothing, since room was last given back
        self._now = -NEVER
        self._expected = NEVER
        self._stays: float | None = None
        self._alarms: list[int] = []
        self._set: set[int] = set()

    def raster_from(self, moment: float) -> float:
        """Return the first moment of the raster from one on that nobody has looked at yet."""
        if moment == NEVER:
            return NEVER
        at = self._at(self._place(moment))
        return at if at > self.last else self.raster_after(self.last)

    def raster_after(self, moment: float) -> float:
        """Return the first moment of the raster after another."""
        return self._at(self._place(moment) + (self._at(self._place(moment)) <= moment))

    def expect(self, *, due: bool, waits: float, outstanding: bool) -> float:
        """Return the next look, in a mode that hears of arrivals; `waits` is when the next of what waits is due."""
        self._expected = self._next(due, waits, outstanding)
        return self._expected

    def _next(self, due: bool, waits: float, outstanding: bool) -> float:
        if self.mode == "sleep":
            alarm = self._at(self._alarms[0]) if self._alarms else NEVER
            return min(alarm, self._sweep()) if self._alarms or outstanding else NEVER
        after = self.raster_after(max(self.last, self._now)) if self._now > -NEVER else NEVER
        looks = [self._stays] if self._stays is not None else []
        if due:
            looks.append(after)
        if waits < NEVER:
            looks.append(max(after, self.raster_after(waits) - self.interval))
        return min(looks, default=NEVER)

    def looks(self, now: float) -> bool:
        """Whether a look is made at a moment, or only something else happens."""
        self._now = now
        return not self.hears or now == self._expected

    def hear(self, due: float, known: float) -> None:
        """In mode sleep, leave a wake-up for the moment of the raster at which something is due."""
        self.tally.touch(known)
        if self.mode == "sleep" and (place := self._place(due)) not in self._set:
            self._set.add(place)
            heappush(self._alarms, place)

    def wake(self, now: float) -> float:
        """Begin a look; return when it reaches the database, which may have to wake up first."""
        while self._alarms and self._at(self._alarms[0]) <= now:
            self._set.discard(heappop(self._alarms))
        stayed = self._stays is not None and now == self._stays
        return self.tally.look(now, self.last if stayed else None)

    def slept(self, now: float, offered: int, left: int, waits: float) -> None:
        """End a look: see whether to stay up, or whom to wake for what is left."""
        self.last = now
        self.vain = 0 if offered else self.vain + 1
        after = self.raster_after(now)
        self._stays = waits if self.kicks and now < waits < after else None
        if left:
            self.hear(after, now)

    def _sweep(self) -> float:
        since = max(self.last, self._now)
        if since == -NEVER:
            return NEVER
        return (math.floor(since / self.policy.sweep) + 1) * self.policy.sweep

    def _place(self, moment: float) -> int:
        return math.ceil((moment - self.phase) / self.interval - SLACK)

    def _at(self, place: int) -> float:
        return self.phase + place * self.interval
