"""When the dispatcher ticks: at regular intervals."""

import math

NEVER = math.inf
# A fraction of an interval, to absorb rounding errors.
TOLERANCE = 1e-9


class Ticks:
    """The schedule of the ticks, and the last tick."""

    def __init__(self, interval: float, phase: float) -> None:
        """Start before the first tick."""
        self.interval, self.phase = interval, phase
        self.last = -NEVER

    def next(self) -> float:
        """Return the tick after the last one."""
        return self._after(self.last)

    def first_from(self, moment: float) -> float:
        """Return the first tick at or after a time that comes after the last tick."""
        if moment == NEVER:
            return NEVER
        tick = self._time(self._number(moment))
        return tick if tick > self.last else self._after(self.last)

    def _after(self, moment: float) -> float:
        number = self._number(moment)
        return self._time(number + (self._time(number) <= moment))

    def _number(self, moment: float) -> int:
        return math.ceil((moment - self.phase) / self.interval - TOLERANCE)

    def _time(self, number: int) -> float:
        return self.phase + number * self.interval
