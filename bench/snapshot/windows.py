"""Percentiles of the samples of two runs, in windows of some seconds."""

from collections import defaultdict
from collections.abc import Sequence
from math import ceil

from bench.snapshot.clients.steady import Load
from bench.snapshot.runs import Sample

# By operation, p50 and p99 of both runs for each window, as in bench.results.Steady.
Operations = dict[str, list[list[float] | None]]
Windows = dict[tuple[str, int], list[float]]


def compare(clean: Sequence[Sample], held: Sequence[Sample], load: Load, window: int) -> Operations:
    """Return the percentiles of two runs of a load, the second one with an old snapshot."""
    without, with_it = _windows(clean, load, window), _windows(held, load, window)
    operations = sorted({name for name, _ in without.keys() | with_it.keys()})
    count = ceil(load.seconds / window)
    return {
        name: [_compared(without.get((name, number)), with_it.get((name, number))) for number in range(count)]
        for name in operations
    }


def _compared(clean: Sequence[float] | None, held: Sequence[float] | None) -> list[float] | None:
    """Return the percentiles of a window, or None if one of the runs has no sample in it."""
    if not clean or not held:
        return None
    return [round(percentile(run, part), 2) for part in (0.5, 0.99) for run in (clean, held)]


def percentile(values: Sequence[float], part: float) -> float:
    """Return the nearest percentile; `part` is from 0 to 1."""
    return sorted(values)[min(len(values) - 1, int(part * len(values)))]


def _windows(samples: Sequence[Sample], load: Load, window: int) -> Windows:
    windows: Windows = defaultdict(list)
    for sample in samples:
        if sample.second < load.seconds:
            windows[sample.name, int(sample.second // window)].append(sample.ms)
    return windows
