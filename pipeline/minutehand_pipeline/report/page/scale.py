"""Axes: the position of a value, and the values that are labelled."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

# Round durations, in seconds.
ROUND = (0.001, 0.01, 0.1, 1.0, 10.0, 60.0, 600.0, 3600.0, 36_000.0, 86_400.0, 864_000.0)


@dataclass(frozen=True)
class Scale:
    """A vertical axis; `place` is in percent from the top."""

    low: float
    high: float
    ticks: tuple[float, ...]
    logarithmic: bool = False

    def place(self, value: float) -> float:
        """Return the position of a value, limited to the axis."""
        low, high, at = self.low, self.high, min(max(value, self.low), self.high)
        if self.logarithmic:
            low, high, at = math.log(low), math.log(high), math.log(at)
        return round(100 * (1 - (at - low) / (high - low)), 2)


def linear(values: Sequence[float]) -> Scale:
    """Return an axis from 0 to a round number that is at least the maximum."""
    most = max(values, default=0) or 1
    size = 10 ** math.floor(math.log10(most))
    high = next(step * size for step in (1, 2, 3, 4, 5, 8, 10) if step * size >= most * 0.999)
    return Scale(0, high, (0, high / 2, high))


def durations(values: Sequence[float]) -> Scale:
    """Return a logarithmic axis for seconds between round durations, so that both 20 ms and an hour are visible."""
    there = [value for value in values if value > 0]
    least, most = max(min(there, default=0.1), ROUND[0]), min(max(there, default=1.0), ROUND[-1])
    first = max(place for place, each in enumerate(ROUND) if each <= least)
    last = min(place for place, each in enumerate(ROUND) if each >= most)
    if last == first:
        first, last = max(0, first - 1), min(len(ROUND) - 1, last + 1)
    ticks = ROUND[first : last + 1]
    return Scale(ticks[0], ticks[-1], ticks if len(ticks) <= 5 else ticks[::2], logarithmic=True)


def apart(places: Sequence[float], least: float, most: float = 100.0) -> list[float]:
    """Return positions that are at least `least` apart, in the same order and within the axis."""
    order = sorted(range(len(places)), key=lambda each: places[each])
    moved = list(places)
    for before, each in pairwise(order):
        moved[each] = max(moved[each], moved[before] + least)
    limit = most
    for each in reversed(order):
        moved[each] = min(moved[each], limit)
        limit = moved[each] - least
    return [round(each, 2) for each in moved]
