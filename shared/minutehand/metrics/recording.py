"""Recording: turn events and figures into values of the metrics, with a bounded number of series."""

from collections.abc import Mapping
from threading import Lock
from typing import Protocol

from minutehand.metrics.table import METRICS, Metric
from minutehand.model.event import Event

# Pairs of queue and kind that a process records by name. Names may be made of data, and each pair is a series of each
# metric in the process and in the system that stores them.
MOST_PAIRS = 200
OTHERS = ("(others)", "(others)")

# Events whose metric has another name. Any other one counts under its own name, if it is an outcome.
OUTCOMES = {"retried": "retrying"}
# How a job may end without an attempt.
WITHOUT_ATTEMPT = {"dead", "expired"}


class Instruments(Protocol):
    """The instruments of a metrics library, one for each metric."""

    def add(self, metric: Metric, value: int, labels: Mapping[str, str]) -> None:
        """Record a value, by the kind of the metric: add to a counter, set a gauge, or observe in a histogram."""


class Recorder:
    """Records events and figures with the instruments of one library. Threads may share it."""

    def __init__(self, instruments: Instruments, most_pairs: int = MOST_PAIRS) -> None:
        """Record up to `most_pairs` pairs of queue and kind by name, and all others as one."""
        self._instruments, self._most_pairs = instruments, most_pairs
        self._pairs: set[tuple[str, str]] = set()
        self._lock = Lock()

    def count(self, event: Event) -> None:
        """Record an event of a job: its outcome, and how late its attempt started or how long it took."""
        for name, value in _values(event).items():
            metric = METRICS[name]
            labels = dict(zip(metric.labels, self._bounded(event.queue or "", event.kind or ""), strict=True))
            self._instruments.add(metric, value, labels)

    def measure(self, figures: Mapping[str, int]) -> None:
        """Record the figures of a tick, an invocation or a request. Those of jobs come from events."""
        for name, value in figures.items():
            metric = METRICS.get(name)
            if metric is not None and not metric.labels:
                self._instruments.add(metric, value, {})

    def _bounded(self, queue: str, kind: str) -> tuple[str, str]:
        pair = queue, kind
        with self._lock:
            if pair not in self._pairs:
                if len(self._pairs) >= self._most_pairs:
                    return OTHERS
                self._pairs.add(pair)
        return pair


def _values(event: Event) -> dict[str, int]:
    """Return the values of an event by metric; none if an operator caused it."""
    if event.name == "enqueued":
        return {event.facts["outcome"]: 1}
    if event.name == "claimed":
        return {"lateness_ms": event.facts["lateness_ms"]}
    if event.name == "released":
        return {"released": 1}
    if "ran_ms" in event.facts:
        return {OUTCOMES.get(event.name, event.name): 1, "ran_ms": event.facts["ran_ms"]}
    return {event.name: 1} if event.name in WITHOUT_ATTEMPT and "actor" not in event.facts else {}
