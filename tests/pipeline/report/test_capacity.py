"""The advice on capacity, for arrivals whose answer is known. These tests run without Spark."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minutehand_pipeline.prices import LIST
from minutehand_pipeline.report.capacity import (
    Advice,
    Goal,
    advice_sentences,
    advise,
    choose_chunk,
    no_advice_reason,
)
from minutehand_pipeline.report.workload import Workload, share_in_time, workers_for

DAY = 1440


def workload(jobs: list[float] | np.ndarray, run: float = 1.0, p95: float | None = None) -> Workload:
    counts = np.asarray(jobs, float)
    return Workload(counts, counts * run, 1.0, run, run if p95 is None else p95, 0.5)


def goal(objective: float = 90, target: float = 0.99) -> Goal:
    return Goal(objective, target, LIST, "arm64")


def advice_on(jobs: Workload, wanted: Goal) -> Advice:
    advice = advise(jobs, wanted)
    assert advice is not None
    return advice


def test_workers_match_littles_law_for_even_arrivals() -> None:
    even = workload(np.full(DAY, 600.0), run=0.5)  # λ = 10 per second, W = 0.5 s

    workers, within = workers_for(even, 1, 70, 0.99)

    assert even.busy.mean() == pytest.approx(5) and workers == 5 and within == 1
    assert share_in_time(even, 4, 1, 70) < 0.05  # the backlog grows all day


def test_burst_takes_as_long_as_its_workers_need() -> None:
    burst = np.zeros(DAY)
    burst[600] = 600  # all in one minute, a second of work each

    assert share_in_time(workload(burst), 1, 1, 120.3) == pytest.approx(60 / 540)
    assert workers_for(workload(burst), 1, 120.3, 0.999)[0] == 5  # 600 s of work in the 120 s after the tick


def test_job_waits_for_the_next_tick() -> None:
    calm = workload(np.full(DAY, 1.0), run=0.001)

    assert share_in_time(calm, 10, 1, 30.3) == pytest.approx(0.5, abs=0.001)
    assert share_in_time(calm, 10, 1, 60.3) == pytest.approx(1)


@settings(max_examples=60)
@given(
    st.lists(st.integers(0, 500), min_size=30, max_size=120),
    st.integers(1, 40),
    st.sampled_from([1, 5, 20]),
    st.floats(1, 400),
)
def test_more_workers_or_more_time_never_reduce_the_share(jobs, workers, chunk, objective) -> None:
    given_jobs = workload(jobs, run=0.7)

    share = share_in_time(given_jobs, workers, chunk, objective)

    assert 0 <= share <= share_in_time(given_jobs, workers + 1, chunk, objective) + 1e-9
    assert share <= share_in_time(given_jobs, workers, chunk, objective + 1) + 1e-9
    assert share_in_time(given_jobs, workers, chunk + 1, objective) <= share + 1e-9


def test_chunks_are_large_only_for_short_jobs() -> None:
    quick, slow = workload(np.full(DAY, 600.0), run=0.005), workload(np.full(DAY, 600.0), run=8.0)

    assert choose_chunk(quick, goal()) >= 10
    assert choose_chunk(slow, goal()) == 1
    assert choose_chunk(replace(quick, run_p95=10.0), goal()) == 1


def test_advice_meets_the_target_and_adds_up() -> None:
    busy = workload(np.full(DAY, 60.0), run=0.5)

    advice = advice_on(busy, goal())

    assert advice.meets and advice.capacity == advice.workers * advice.chunk
    assert advice.cost == pytest.approx(advice.jobs_cost + advice.overhead_cost + advice.ticks_cost)
    # 30.4 days of 86,400 jobs, half a second at half a gigabyte
    assert advice.jobs_cost == pytest.approx(730 * 3600 * 0.25 * 1.33334e-5, rel=1e-6)
    (sentence,) = advice_sentences(advice, goal())
    assert f"MINUTEHAND_CAPACITY={advice.capacity}" in sentence


def test_report_without_enough_jobs_has_no_advice() -> None:
    few, unknown = workload([999.0] + [0.0] * DAY), workload(np.full(DAY, 10.0), run=0.0)

    assert advise(few, goal()) is None and advise(unknown, goal()) is None
    assert "it needs at least 1,000 jobs" in no_advice_reason(few)
    assert "no attempt in the window has a run time" in no_advice_reason(unknown)


def test_advice_says_if_the_target_is_out_of_reach() -> None:
    advice = advice_on(workload(np.full(DAY, 10.0)), goal(objective=0.1))

    assert not advice.meets
    assert "no number of workers reaches 99 %" in " ".join(advice_sentences(advice, goal(objective=0.1)))
