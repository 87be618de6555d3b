"""What holds of every simulation, whatever the jobs and the policy."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minutehand_pipeline.simulate.arrivals import BACK, DONE, FAILED, FINAL, LAPSED
from minutehand_pipeline.simulate.outcome import bin_of, bin_seconds, rows
from minutehand_pipeline.simulate.policy import Limit
from tests.pipeline.simulate.cases import begun, job, play, states

MODES = ["minute", "prompt", "sleep"]
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
        "mode": st.sampled_from(MODES), "capacity": st.integers(1, 8), "chunk": st.integers(1, 4),
        "concurrency": st.sampled_from([None, 1, 3]), "offer_ttl": st.sampled_from([20.0, 120.0]),
        "max_attempts": st.sampled_from([None, 1, 3]), "timeout": st.sampled_from([None, 10.0]),
        "limits": st.sampled_from([(), (Limit(queue="mail", most=2),)]), "latency": st.sampled_from([0.0, 0.3]),
    }
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(jobs(), POLICIES)
def test_every_job_ends_once_and_is_invoked_often_enough(
    told: list[dict[str, Any]], policy: dict[str, Any]
) -> None:
    tally = play(told, **policy)

    ends = states(tally)
    assert sum(ends.values()) == len(told)
    assert ends.get("unfinished", 0) == 0
    assert sum(tally.invocations) >= math.ceil(len(told) / policy["chunk"])
    dues = sorted((each["known"], each["due"]) for each in told)  # the order in which they are played
    assert all(
        began >= due - 1e-6 for began, (_, due) in zip(tally.began, dues, strict=True) if began == began
    )
    if policy["max_attempts"]:
        backs = sum(outcome in (BACK, LAPSED) for each in told for outcome in each["outcomes"])
        assert sum(tally.attempts) <= policy["max_attempts"] * len(told) + backs


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(0, 600), min_size=1, max_size=30), st.integers(1, 8), st.sampled_from(MODES))
def test_more_capacity_makes_no_job_later_when_all_take_the_same_time(
    moments: list[float], capacity: int, mode: str
) -> None:
    told = [job(at, 25.0) for at in sorted(moments)]

    few, more = (begun(told, capacity=most, mode=mode) for most in (capacity, capacity + 3))
    if mode == "prompt":  # who finds room goes before who waits for a tick
        few, more = sorted(few), sorted(more)
    assert all(later >= sooner for later, sooner in zip(few, more, strict=True))


@settings(max_examples=30, deadline=None)
@given(jobs(), POLICIES, st.integers(0, 5))
def test_the_same_arrivals_and_seed_are_the_same_run_in_whatever_order_they_came(
    told: list[dict[str, Any]], policy: dict[str, Any], seed: int
) -> None:
    first, again = play(told, seed=seed, **policy), play(told, seed=seed, **policy)

    assert np.array_equal(first.began, again.began, equal_nan=True)
    assert (first.busy, first.looks) == (again.busy, again.looks)


def test_littles_law_holds_on_what_comes_out() -> None:
    chance = np.random.default_rng(3)
    moments = np.sort(chance.uniform(0, 20_000, 4000))
    told = [job(float(at), float(run)) for at, run in zip(moments, chance.exponential(8, 4000), strict=True)]
    tally = play(told, capacity=10_000, worker_timeout=900.0)

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


def test_a_bin_stands_for_a_lateness_to_half_a_percent() -> None:
    seconds = np.geomspace(0.001, 1e7, 5000)

    assert np.max(np.abs(bin_seconds(bin_of(seconds))[1:] / seconds[1:] - 1)) < 0.0052
    assert bin_of(np.array([0.0, 0.0005])).tolist() == [0, 0]


def test_a_database_that_is_woken_every_minute_never_pauses_and_one_that_may_sleep_does() -> None:
    told = [job(10.0), job(40_000.0)]

    def awake(**policy: Any) -> float:
        return float(rows(0, play(told, **policy), 0.0, 86_400.0)[-1]["awake_seconds"])

    assert awake() == 86_400.0
    assert awake(mode="sleep", sweep=86_400.0, idle=100.0) == pytest.approx(
        100.0 + (60.0 - 10.0) + 1.0 + 100.0 + (40_020.0 - 40_000.0) + 1.0 + 100.0, abs=101.0
    )


def test_ticks_and_what_a_dispatcher_stays_up_for_are_counted() -> None:
    told = [job(10.0), job(75.0, known=10.0)]

    def ticks(**policy: Any) -> tuple[int, float]:
        row = rows(0, play(told, tick_seconds=1.0, dispatcher_mb=1024, **policy), 0.0, 600.0)[-1]
        return row["ticks"], row["tick_gb_seconds"]

    assert ticks() == (10, 10.0)
    assert ticks(mode="prompt") == (10, 25.0)  # from 60 to 75
    assert ticks(mode="sleep", sweep=3600.0) == (3, 3.0)  # at 0 the sweep, at 60 and at 120
