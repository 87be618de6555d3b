"""Properties of every simulation."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minutehand_pipeline.simulate.arrivals import BACK, DONE, FAILED, FINAL, LAPSED
from minutehand_pipeline.simulate.measures import FINEST, WIDER, bin_of, rows
from minutehand_pipeline.simulate.policy import Limit
from tests.pipeline.simulate.cases import job, simulated, starts, states

ATTEMPTS = st.lists(st.sampled_from([FAILED, FAILED, BACK, LAPSED]), max_size=3)


@st.composite
def jobs(draw: st.DrawFn) -> list[dict[str, Any]]:
    count = draw(st.integers(0, 25))
    known = sorted(draw(st.lists(st.floats(0, 600), min_size=count, max_size=count)))
    return [_job(draw, at) for at in known]


def _job(draw: st.DrawFn, at: float) -> dict[str, Any]:
    outcomes = [*draw(ATTEMPTS), draw(st.sampled_from([DONE, DONE, FINAL]))]
    runs = draw(st.lists(st.floats(0, 40), min_size=len(outcomes), max_size=len(outcomes)))
    queue = draw(st.sampled_from(["mail", "other"]))
    due = at + draw(st.sampled_from([0.0, 0.0, 90.0]))
    return job(due, *runs, outcomes=outcomes, known=at, queue=queue, gaps=[5.0] * len(runs), max_attempts=9)


POLICIES = st.fixed_dictionaries(
    {
        "capacity": st.integers(1, 8),
        "chunk": st.integers(1, 4),
        "concurrency": st.sampled_from([None, 1, 3]),
        "offer_ttl": st.sampled_from([20.0, 120.0]),
        "max_attempts": st.sampled_from([None, 1, 3]),
        "timeout": st.sampled_from([None, 10.0]),
        "limits": st.sampled_from([(), (Limit(queue="mail", limit=2),)]),
        "latency": st.sampled_from([0.0, 0.3]),
    }
)


@settings(max_examples=60)
@given(jobs(), POLICIES)
def test_every_job_ends_once_with_enough_invocations(
    given_jobs: list[dict[str, Any]], policy: dict[str, Any]
) -> None:
    tally = simulated(given_jobs, **policy)

    ends = states(tally)
    assert sum(ends.values()) == len(given_jobs)
    assert ends.get("unfinished", 0) == 0
    assert sum(tally.invocations) >= math.ceil(len(given_jobs) / policy["chunk"])
    dues = sorted((each["known"], each["due"]) for each in given_jobs)  # the order of the arrivals
    assert all(
        began >= due - 1e-6 for began, (_, due) in zip(tally.began, dues, strict=True) if began == began
    )
    if policy["max_attempts"]:
        backs = sum(outcome in (BACK, LAPSED) for each in given_jobs for outcome in each["outcomes"])
        assert sum(tally.attempts) <= policy["max_attempts"] * len(given_jobs) + backs


@settings(max_examples=30)
@given(st.lists(st.floats(0, 600), min_size=1, max_size=30), st.integers(1, 8))
def test_more_capacity_never_delays_equal_jobs(moments: list[float], capacity: int) -> None:
    given_jobs = [job(at, 25.0) for at in sorted(moments)]

    few, more = (starts(given_jobs, capacity=each) for each in (capacity, capacity + 3))
    assert all(later >= sooner for later, sooner in zip(few, more, strict=True))


@settings(max_examples=30)
@given(jobs(), POLICIES, st.integers(0, 5))
def test_simulation_is_deterministic(
    given_jobs: list[dict[str, Any]], policy: dict[str, Any], seed: int
) -> None:
    first, again = simulated(given_jobs, seed=seed, **policy), simulated(given_jobs, seed=seed, **policy)

    assert np.array_equal(first.began, again.began, equal_nan=True)
    assert (first.busy, first.ticks) == (again.busy, again.ticks)


def test_simulation_obeys_littles_law() -> None:
    chance = np.random.default_rng(3)
    moments = np.sort(chance.uniform(0, 20_000, 4000))
    given_jobs = [
        job(float(at), float(run)) for at, run in zip(moments, chance.exponential(8, 4000), strict=True)
    ]
    tally = simulated(given_jobs, capacity=10_000, worker_timeout=900.0)

    ended = np.array([end for _, end in sorted(tally.busy)])
    began = np.sort(tally.began)
    events = np.concatenate([moments, ended])
    steps = np.concatenate([np.ones(4000), -np.ones(4000)])
    order = np.argsort(events, kind="stable")
    spans = np.diff(events[order])
    inside = float((np.cumsum(steps[order])[:-1] * spans).sum() / spans.sum())
    sojourn = float(ended.sum() - moments.sum()) / 4000
    assert len(began) == 4000
    assert inside == pytest.approx(4000 / spans.sum() * sojourn, rel=1e-6)


def test_bins_are_accurate_to_half_a_percent() -> None:
    seconds = np.geomspace(0.001, 1e7, 5000)

    middles = FINEST * WIDER ** (bin_of(seconds) - 0.5)
    assert np.max(np.abs(middles[1:] / seconds[1:] - 1)) < 0.0052
    assert bin_of(np.array([0.0, 0.0005])).tolist() == [0, 0]


def test_database_pauses_only_between_distant_ticks() -> None:
    given_jobs = [job(10.0), job(40_000.0)]

    def awake(**policy: Any) -> float:
        return float(rows(0, simulated(given_jobs, **policy), 0.0, 86_400.0)[-1]["awake_seconds"])

    assert awake() == 86_400.0
    # 24 ticks of 0.1 s; the first job extends the first by 9.9 s; the second wakes the database; each runs for 1 s.
    assert awake(interval=3600.0, idle=100.0) == pytest.approx(24 * 100.1 + 9.9 + 100 + 2 * 0.9)


def test_every_tick_of_the_window_is_counted() -> None:
    tally = simulated([job(10.0), job(75.0, known=10.0)], tick_seconds=1.0, dispatcher_mb=1024)

    dispatcher = rows(0, tally, 0.0, 600.0)[-1]

    assert (dispatcher["ticks"], dispatcher["tick_gb_seconds"]) == (10, 10.0)
