"""Percentiles of the samples of two runs, in windows of some seconds."""

from collections import defaultdict
from collections.abc import Sequence

from bench.snapshot.clients.steady import Load
from bench.snapshot.runs import Sample

# By operation, for each window in which both runs have samples: p50 and p99 of both, as in bench.results.Steady.
Operations = dict[str, list[list[float]]]
Windows = dict[tuple[str, int], list[float]]


def compare(clean: Sequence[Sample], held: Sequence[Sample], load: Load, window: int) -> Operations:
    """Return the percentiles of two runs of a load, the second one with an old snapshot."""
    without, with_it = _windows(clean, load, window), _windows(held, load, window)
    found: Operations = {}
    for key in sorted(without.keys() & with_it.keys()):
        pairs = ((without[key], part) for part in (0.5, 0.99))
        values = [
            round(percentile(run, part), 2) for clean_run, part in pairs for run in (clean_run, with_it[key])
        ]
        found.setdefault(key[0], []).append(values)
    return found


def percentile(values: Sequence[float], part: float) -> float:
    """Return the nearest percentile; `part` is from 0 to 1."""
    return sorted(values)[min(len(values) - 1, int(part * len(values)))]


def _windows(samples: Sequence[Sample], load: Load, window: int) -> Windows:
    windows: Windows = defaultdict(list)
    for sample in samples:
        if sample.second < load.seconds:
            windows[sample.name, int(sample.second // window)].append(sample.ms)
    return windows
