"""Interleaved rounds of ours and the limit, so that changes of the machine's speed affect both."""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from time import perf_counter

ROUNDS = 5


@dataclass(frozen=True)
class Measured:
    """One line of the table, as text."""

    what: str
    ours: str
    limit: str = ""
    ratio: str = ""
    aim: str = ""


def seconds(run: Callable[[], object], before: Callable[[], object] | None = None) -> float:
    """Return the duration of a call, without that of `before`."""
    if before is not None:
        before()
    began = perf_counter()
    run()
    return perf_counter() - began


def against(
    what: str,
    count: int,
    ours: Callable[[], object],
    limit: Callable[[], object],
    *,
    before: Callable[[], object] | None = None,
    aim: str = "",
    rounds: int = ROUNDS,
) -> Measured:
    """Measure two functions that process `count` items, in turn, and return the median ratio of the rounds."""
    pairs = [(seconds(ours, before), seconds(limit, before)) for _ in range(rounds)]
    ratio = median(limit_took / ours_took for ours_took, limit_took in pairs)
    ours_each, limit_each = (median(pair[side] for pair in pairs) / count * 1e6 for side in (0, 1))
    return Measured(what, f"{ours_each:,.1f} µs", f"{limit_each:,.1f} µs", f"{ratio:.2f}", aim)
