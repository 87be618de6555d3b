"""The data of the plots. Each plot contains a digest of its data, so that a test sees when it is out of date."""

from collections.abc import Callable
from hashlib import sha256
from json import dumps
from pathlib import Path
from statistics import median
from typing import Any

from bench.queues.cases import CHUNKS, WORKERS, chunked
from bench.queues.systems import OURS
from bench.results import Results

IMAGES = Path(__file__).parents[2] / "docs" / "images"
BARS = ("one", "batch", "bulk")


def bars(results: Results) -> dict[str, Any]:
    """Return the median rate of each system, by case."""
    return {
        case: {system: median(rates) for system, rates in results.cases[case].rates.items()} for case in BARS
    }


def grid(results: Results) -> dict[str, Any]:
    """Return our median rates by chunk, one for each number of workers."""
    return {
        str(chunk): [median(results.cases[chunked(chunk, workers).name].rates[OURS]) for workers in WORKERS]
        for chunk in CHUNKS
    }


def ticks(results: Results) -> dict[str, Any]:
    """Return the milliseconds of a tick by case and backlog."""
    return dict(results.ticks.milliseconds)


# The data of the plot in each file.
PLOTS: dict[str, Callable[[Results], dict[str, Any]]] = {
    "performance-systems.svg": bars,
    "performance-workers.svg": grid,
    "performance-ticks.svg": ticks,
}


def digest(data: dict[str, Any]) -> str:
    """Return the digest that a plot of this data contains."""
    return "data " + sha256(dumps(data, sort_keys=True).encode()).hexdigest()[:16]
