"""Advice on capacity: how many workers and which chunk the observed arrivals need, and what they would cost."""

import math
from dataclasses import dataclass

import numpy as np

from minutehand_pipeline.prices import MONTH_HOURS, Prices
from minutehand_pipeline.report.workload import Workload, workers_for

MIN_JOBS = 1000
CHUNKS = (1, 2, 5, 10, 20, 50, 100)
# A chunk's last job may wait for the others for this share of the objective, and at most MAX_CHUNK_WAIT seconds.
CHUNK_SHARE = 0.1
MAX_CHUNK_WAIT = 60.0
# A smaller chunk is preferred if it costs at most this factor of the cheapest.
GOOD_ENOUGH = 1.05
# Seconds of an invocation outside the handler: claim and finish.
OVERHEAD = 0.015
# Seconds and gigabytes of a run of the dispatcher, which runs every minute.
TICK, DISPATCHER_GB = 0.15, 0.5
TICKS = MONTH_HOURS * 60

ASSUMPTIONS = (
    "The next month's arrivals equal those of the window, scaled to a month. Growth is not included.",
    "Jobs fall due evenly within their minute, and each job takes the mean run time of its kind, retries included.",
    "The dispatcher ticks every minute. Workers serve jobs first in, first out; priorities, queues, pauses and limits "
    "are ignored.",
    "An offer takes 0.3 s to reach a handler.",
    "A job in a chunk waits for all other jobs of the chunk.",
    "An invocation takes 15 ms besides the handler, a tick 0.15 s at 512 MB. Cold starts and the database are not "
    "included.",
)


@dataclass(frozen=True)
class Advice:
    """The workers, the chunk and the monthly cost that meet the target.

    `workers` is the number of concurrent invocations, `capacity` the setting that allows them with this chunk, `within`
    the share of jobs started in time, and `meets` whether it reaches the target. `jobs_cost` is the handlers' run time,
    `overhead_cost` their invocations, and `ticks_cost` the dispatcher and its schedule.
    """

    workers: int
    chunk: int
    capacity: int
    within: float
    meets: bool
    invocations: float
    ticks: float
    jobs_cost: float
    overhead_cost: float
    ticks_cost: float
    cost: float


@dataclass(frozen=True)
class Goal:
    """The goal of the advice: start `target` of the jobs within `objective` seconds, at these prices."""

    objective: float
    target: float
    prices: Prices
    architecture: str


def no_advice_reason(workload: Workload) -> str:
    """Return the reason why there is no advice, or an empty string."""
    jobs, minutes = int(workload.jobs.sum()), len(workload.jobs)
    if jobs < MIN_JOBS:
        found = f"{jobs:,} job{'s' * (jobs != 1)} in {minutes // 1440} day{'s' * (minutes != 1440)}"
        return f"No advice: it needs at least {MIN_JOBS:,} jobs, and the window has {found}."
    if not workload.work.sum():
        return "No advice: no attempt in the window has a run time."
    return ""


def advise(workload: Workload, goal: Goal) -> Advice | None:
    """Return the fewest workers that meet the target, with their cost; None if there is too little data."""
    if no_advice_reason(workload):
        return None
    chunk = choose_chunk(workload, goal)
    workers, within = workers_for(workload, chunk, goal.objective, goal.target)
    month = MONTH_HOURS * 60 / len(workload.jobs)
    invocations = _invocations(workload, chunk) * month
    jobs_cost = _jobs_cost(workload, goal) * month
    overhead_cost = _overhead_cost(workload, goal, invocations)
    dispatcher = goal.prices.of_run(TICKS * TICK * DISPATCHER_GB, TICKS, goal.architecture)
    ticks_cost = goal.prices.of_wakes(TICKS) + dispatcher
    return Advice(
        workers=workers,
        chunk=chunk,
        capacity=workers * chunk,
        within=within,
        meets=within >= goal.target,
        invocations=invocations,
        ticks=TICKS,
        jobs_cost=jobs_cost,
        overhead_cost=overhead_cost,
        ticks_cost=ticks_cost,
        cost=jobs_cost + overhead_cost + ticks_cost,
    )


def choose_chunk(workload: Workload, goal: Goal) -> int:
    """Return the smallest chunk that costs about as little as the cheapest, among those with a short enough wait."""
    longest = min(CHUNK_SHARE * goal.objective, MAX_CHUNK_WAIT)
    allowed = [chunk for chunk in CHUNKS if (chunk - 1) * workload.run_p95 <= longest]
    jobs_cost = _jobs_cost(workload, goal)
    costs = {
        chunk: jobs_cost + _overhead_cost(workload, goal, _invocations(workload, chunk)) for chunk in allowed
    }
    return next(chunk for chunk in allowed if costs[chunk] <= min(costs.values()) * GOOD_ENOUGH)


def advice_sentences(advice: Advice, goal: Goal) -> list[str]:
    """Return the advice as sentences."""
    share = math.floor(advice.within * 1000) / 10
    sentences = [
        f"Set MINUTEHAND_CAPACITY={advice.capacity} and MINUTEHAND_CHUNK={advice.chunk}, for "
        f"{advice.workers:,} concurrent worker{'s' * (advice.workers != 1)}. Then {share:g} % of the jobs would start "
        f"within {goal.objective:g} s, for ${advice.cost:,.2f} a month."
    ]
    if not advice.meets:
        sentences.append(
            f"With a tick every minute, no number of workers reaches {goal.target * 100:g} %: "
            "allow a longer objective or a lower target."
        )
    return sentences


def _invocations(workload: Workload, chunk: int) -> float:
    return float(np.ceil(workload.jobs / chunk).sum()) * max(1.0, workload.tries)


def _jobs_cost(workload: Workload, goal: Goal) -> float:
    return float(workload.work.sum()) * workload.gigabytes * goal.prices.gb_second[goal.architecture]


def _overhead_cost(workload: Workload, goal: Goal, invocations: float) -> float:
    return goal.prices.of_run(invocations * OVERHEAD * workload.gigabytes, invocations, goal.architecture)
