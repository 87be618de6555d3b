"""The simulator compared with queueing theory: each result lies within the confidence interval of replications.

With a probability of one in a thousand a correct simulator would miss an interval, so the seeds are fixed.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.pipeline.simulate.cases import job, simulated

Numbers = npt.NDArray[np.float64]
Arrive = Callable[[np.random.Generator], tuple[Numbers, Numbers]]

REPLICATIONS, JOBS, MANY = 24, 1200, 8000
# Of Student's t with 23 degrees of freedom, two-sided, for 99.9 %.
T = 3.77
# Workers that go on with the next due job, so that no slot is idle while a job is due.
CONSERVING: dict[str, Any] = {
    "mode": "prompt",
    "jobs_per_invocation": 10_000,
    "worker_timeout": 900.0,
    "warm": 1e9,
}


SYSTEMS = pytest.mark.parametrize(
    ("servers", "busy", "jobs"), [(1, 0.6, JOBS), pytest.param(4, 0.8, MANY, marks=pytest.mark.long)]
)


def poisson(rate: float, run: float, *, random: bool = False, jobs: int = JOBS) -> Arrive:
    """Return jobs that arrive at random, and take `run` seconds each or, if `random`, on average."""

    def arrive(chance: np.random.Generator) -> tuple[Numbers, Numbers]:
        runs = chance.exponential(run, jobs) if random else np.full(jobs, run)
        return np.cumsum(chance.exponential(1 / rate, jobs)), runs

    return arrive


def waits(arrive: Arrive, replications: int = REPLICATIONS, **policy: Any) -> list[Numbers]:
    """Return the waits of each replication, without its first quarter, in which the queue fills."""
    found = []
    for seed in range(replications):
        moments, runs = arrive(np.random.default_rng([2026, seed]))
        jobs = [job(float(at), float(run)) for at, run in zip(moments, runs, strict=True)]
        found.append(simulated(jobs, **policy).lateness()[1][len(jobs) // 4 :])
    return found


def check(samples: list[float], expected: float, width: float) -> None:
    """Check that a value is in the confidence interval of the samples' mean, and that this is narrow."""
    mean, half = float(np.mean(samples)), T * float(np.std(samples, ddof=1)) / math.sqrt(len(samples))
    assert half <= width * expected, f"the interval {mean:.4f} ± {half:.4f} is too wide for {expected:.4f}"
    assert abs(mean - expected) <= half, f"{mean:.4f} ± {half:.4f} does not contain {expected:.4f}"


def erlang_c(servers: int, load: float) -> float:
    """Return the probability that a job waits in M/M/c; `load` is in servers."""
    terms = [load**n / math.factorial(n) for n in range(servers)]
    last = load**servers / math.factorial(servers) / (1 - load / servers)
    return last / (sum(terms) + last)


def in_system(arrivals: float, served: int) -> Numbers:
    """Return the distribution of a number from which each period takes `served`, and adds a Poisson number.

    It is that of the jobs in M/D/c, whose period is the service time (Crommelin), and of those that a tick finds.
    """
    size = 400
    new = np.array([math.exp(n * math.log(arrivals) - arrivals - math.lgamma(n + 1)) for n in range(size)])
    state = np.zeros(size)
    state[0] = 1.0
    for _ in range(5000):
        left = np.concatenate([[state[: served + 1].sum()], state[served + 1 :]])
        state = np.convolve(left, new)[:size]
    return state / state.sum()


def mean_above(state: Numbers, number: int) -> float:
    return float(np.maximum(np.arange(len(state)) - number, 0) @ state)


@SYSTEMS
def test_waits_of_random_jobs_match_erlang_c(servers: int, busy: float, jobs: int) -> None:
    found = waits(poisson(servers * busy, 1.0, random=True, jobs=jobs), capacity=servers, **CONSERVING)

    delayed, drain = erlang_c(servers, servers * busy), servers * (1 - busy)
    check([each.mean() for each in found], delayed / drain, 0.25)
    check([float((each > 1e-3).mean()) for each in found], delayed, 0.15)
    p95 = math.log(delayed / 0.05) / drain
    check([float((each > p95).mean()) for each in found], 0.05, 0.5)


@SYSTEMS
def test_waits_of_equal_jobs_match_crommelin(servers: int, busy: float, jobs: int) -> None:
    found = waits(poisson(servers * busy, 1.0, jobs=jobs), capacity=servers, **CONSERVING)

    state = in_system(servers * busy, servers)
    check([each.mean() for each in found], mean_above(state, servers) / (servers * busy), 0.25)
    # A job that finds fewer than 2c jobs waits for one service time at most.
    check([float((each > 1.0).mean()) for each in found], 1 - float(state[: 2 * servers].sum()), 0.5)


@pytest.mark.parametrize(("jobs", "width"), [(800, 0.5), pytest.param(4000, 0.25, marks=pytest.mark.long)])
def test_waits_of_batches_match_theory(jobs: int, width: float) -> None:
    size, busy, service = 3.0, 0.5, 0.2

    def arrive(chance: np.random.Generator) -> tuple[Numbers, Numbers]:
        sizes = chance.geometric(1 / size, jobs)
        moments = np.cumsum(chance.exponential(size * service / busy, jobs))
        return np.repeat(moments, sizes)[:jobs], np.full(jobs, service)

    found = waits(arrive, capacity=1, **CONSERVING)

    squared = (2 - 1 / size) * size**2  # the second moment of a geometric number
    of_batch = busy / (size * service) * squared * service**2 / 2 / (1 - busy)
    check([each.mean() for each in found], of_batch + service * (squared / size - 1) / 2, width)


def test_regular_jobs_wait_only_if_they_are_too_many() -> None:
    within = simulated([job(2.0 * n, 1.9) for n in range(500)], capacity=1, **CONSERVING)
    beyond = simulated([job(2.0 * n, 2.1) for n in range(50)], capacity=1, **CONSERVING)

    assert within.lateness()[1].max() == 0.0
    assert beyond.lateness()[1] == pytest.approx([0.1 * n for n in range(50)], abs=1e-6)


@pytest.mark.parametrize(
    ("busy", "jobs"), [(0.5, 400), *(pytest.param(busy, JOBS, marks=pytest.mark.long) for busy in (0.5, 0.9))]
)
def test_waits_for_ticks_match_theory(busy: float, jobs: int) -> None:
    """Without further jobs, each tick starts as many jobs as the capacity allows: a queue with service in bulk."""
    capacity = 6
    rate = busy * capacity / 60

    found = waits(poisson(rate, 20.0, jobs=jobs), capacity=capacity)

    left = mean_above(in_system(rate * 60, capacity), capacity)
    check([each.mean() for each in found], 30.0 + left / rate, 0.25)


@pytest.mark.parametrize("replications", [4, pytest.param(REPLICATIONS, marks=pytest.mark.long)])
def test_worker_that_goes_on_serves_more_than_ticks_do(replications: int) -> None:
    """Four workers that are busy for 80 % of the time do not keep up if a freed slot waits for a tick."""
    arrive = poisson(0.8 * 4 / 30, 30.0)

    waiting = waits(arrive, replications, capacity=5)
    going_on = waits(arrive, replications, capacity=5, jobs_per_invocation=100, worker_timeout=900.0)

    assert min(each.mean() for each in waiting) > 200
    assert max(each.mean() for each in going_on) < 40
