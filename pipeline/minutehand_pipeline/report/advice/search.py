"""The search: the least capacity of each mode that meets the goal, and the cheapest of these."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from minutehand_pipeline.report.advice.candidate import Candidate, Goal
from minutehand_pipeline.report.advice.sample import Sample
from minutehand_pipeline.report.advice.trial import MOST_USED, Trials
from minutehand_pipeline.report.workload import Workload
from minutehand_pipeline.simulate.policy import INTEGERS, MODES, Policy

CHUNKS = (1, 2, 5, 10, 20, 50, 100)
# A chunk's last job may wait for the others for this share of the objective, and at most MAX_CHUNK_WAIT seconds.
CHUNK_SHARE, MAX_CHUNK_WAIT = 0.1, 60.0
# Seconds of an invocation that a larger chunk saves should be a small part of the jobs' run time.
OVERHEAD, GOOD_ENOUGH = 0.015, 0.05
# Further jobs of an invocation: the default of the setting, and none.
FURTHER, NONE = 100, 1
MOST_CAPACITY = INTEGERS["capacity"]
# Found capacities are at most this much too large.
PRECISION = 0.05
# If no capacity is enough, the least one that is nearly as good as any.
NEAR = 1.1
# The advice must hold with this share of jobs more, at resampled times.
MARGIN = 0.1
SEED = 1
# A candidate is preferred to a later one that is cheaper by less than this.
SIMILAR = 1.02


@dataclass(frozen=True)
class Advice:
    """The candidates that were simulated, the advised one or the nearest first. `met` whether that meets the goal."""

    candidates: tuple[Candidate, ...]
    met: bool
    sample: Sample

    @property
    def first(self) -> Candidate:
        """The advised candidate, or the nearest."""
        return self.candidates[0]


def advise(workload: Workload, sample: Sample, goal: Goal) -> Advice:
    """Return the advice, all of whose figures are from simulations of the sample."""
    trials = Trials(workload, sample, sample.with_more(MARGIN, SEED), goal)
    found = list(_candidates(trials))
    good = [each for each in found if each.meets]
    if good:
        cheapest = min(each.cost for each in good)
        chosen = next(each for each in good if each.cost <= cheapest * SIMILAR)
    else:
        chosen = min(found, key=lambda each: (each.late, each.cost))
    others = [each for each in found if each is not chosen]
    first = replace(chosen, advised=bool(good))
    return Advice((first, *others), bool(good), sample)


def choose_chunk(workload: Workload, goal: Goal) -> int:
    """Return the smallest chunk whose overhead is small, among those whose last job waits briefly for the others."""
    longest = min(CHUNK_SHARE * goal.objective, MAX_CHUNK_WAIT)
    allowed = [chunk for chunk in CHUNKS if (chunk - 1) * workload.run_p95 <= longest]
    return next((chunk for chunk in allowed if OVERHEAD / chunk <= GOOD_ENOUGH * workload.run), allowed[-1])


def _candidates(trials: Trials) -> Iterator[Candidate]:
    """Yield the best candidate of each mode, and the same without further jobs of an invocation."""
    chunk = choose_chunk(trials.workload, trials.goal)
    load = math.ceil(
        sum(trials.sample.arrivals.runs) / (trials.sample.until - trials.sample.since) / MOST_USED
    )
    for mode in MODES:
        found = _Search(trials, mode, chunk).least(max(1, load))
        yield found
        if found.meets and mode != "sleep":
            yield trials.run(trials.policy(mode, found.capacity, chunk, NONE), with_more=True)


@dataclass
class _Search:
    """The search in one mode."""

    trials: Trials
    mode: str
    chunk: int

    def least(self, load: int) -> Candidate:
        """Return the least capacity that meets the goal, or that is about as good as any."""
        goal, best = self.trials.goal, self._try(MOST_CAPACITY)
        if not best.meets:
            return self._try(self._bisect(load, best.late * NEAR))
        capacity = self._bisect(load, goal.objective)
        while not (found := self._try(capacity, with_more=True)).meets and capacity < MOST_CAPACITY:
            capacity = min(MOST_CAPACITY, math.ceil(capacity * (1 + PRECISION)))
        return found

    def _bisect(self, load: int, seconds: float) -> int:
        """Return the least capacity with which the target share starts within some seconds."""
        low, high = load - 1, load
        while high < MOST_CAPACITY and not self._enough(high, seconds):
            low, high = high, min(MOST_CAPACITY, max(high + 1, math.ceil(high * 1.5)))
        while high - low > max(1, PRECISION * high):
            middle = (low + high) // 2
            low, high = (low, middle) if self._enough(middle, seconds) else (middle, high)
        return high

    def _enough(self, capacity: int, seconds: float) -> bool:
        return self.trials.enough(self._policy(capacity), seconds, self.trials.goal.target)

    def _try(self, capacity: int, *, with_more: bool = False) -> Candidate:
        return self.trials.run(self._policy(capacity), with_more=with_more)

    def _policy(self, capacity: int) -> Policy:
        return self.trials.policy(self.mode, capacity, self.chunk, FURTHER)
