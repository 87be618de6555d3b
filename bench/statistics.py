"""Statistics of rounds: medians, and ratios of values from the same round."""

from collections.abc import Sequence
from statistics import median


def ratio(ours: Sequence[float], other: Sequence[float]) -> float:
    """Return the median ratio of two rates that were measured in the same rounds."""
    return median(ratios(ours, other))


def ratios(ours: Sequence[float], other: Sequence[float]) -> list[float]:
    """Return the ratio of two rates in each round.

    A round compares values from about the same time, so a machine that slows down affects both.
    """
    if len(ours) != len(other) or not ours:
        raise ValueError(f"both must have the same number of rounds, got {len(ours)} and {len(other)}")
    return [mine / theirs for mine, theirs in zip(ours, other, strict=True)]


def spread(values: Sequence[float]) -> float:
    """Return the distance between the fastest and the slowest round, relative to the median."""
    return (max(values) - min(values)) / median(values)
