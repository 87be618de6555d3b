"""The advice, on arrivals whose answer can be computed by hand."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minutehand_pipeline.prices import LIST
from minutehand_pipeline.report.capacity import Question, advise, chunk_for, said, too_few
from minutehand_pipeline.report.process import MODES, Process, awake_minutes, share_within, workers_for

DAY = 1440


def process(jobs: list[float] | np.ndarray, run: float = 1.0, p95: float | None = None) -> Process:
    came = np.asarray(jobs, float)
    return Process(came, came * run, 1.0, run, run if p95 is None else p95, 0.5)


def question(objective: float = 90, target: float = 0.99, pauses: bool = False) -> Question:
    return Question(objective, target, LIST, "arm64", pauses)


def test_as_many_workers_as_littles_law_says_are_enough_for_even_arrivals() -> None:
    even = process(np.full(DAY, 600.0), run=0.5)  # λ = 10 a second, W = 0.5 s

    workers, within = workers_for(even, "prompt", 1, 10, 0.99)

    assert even.busy.mean() == pytest.approx(5) and workers == 5 and within == 1
    assert share_within(even, "prompt", 4, 1, 10) < 0.05  # the queue grows all day


def test_a_burst_is_served_as_fast_as_there_are_workers() -> None:
    burst = np.zeros(DAY)
    burst[600] = 600  # all in one minute, a second of work each

    assert share_within(process(burst), "prompt", 1, 1, 60.3) == pytest.approx(60 / 540)
    assert share_within(process(burst), "prompt", 10, 1, 0.3) == 1
    assert (
        workers_for(process(burst), "minute", 1, 120.3, 0.999)[0] == 5
    )  # 600 s of work in the 120 s after the tick


def test_a_tick_a_minute_makes_a_job_wait_for_it() -> None:
    calm = process(np.full(DAY, 1.0), run=0.001)

    assert share_within(calm, "minute", 10, 1, 30.3) == pytest.approx(0.5, abs=0.001)
    assert share_within(calm, "prompt", 10, 1, 1) == 1 and share_within(calm, "prompt", 10, 1, 0.2) == 0
    assert share_within(calm, "prompt", 10, 10, 1) == 1  # nine others of a chunk are 9 ms


def test_a_database_that_slept_makes_the_first_job_wait_for_it() -> None:
    seldom = np.zeros(DAY)
    seldom[::60] = 1

    assert (
        share_within(process(seldom), "sleep", 10, 1, 62)
        < share_within(process(seldom), "minute", 10, 1, 62)
        == 1
    )
    assert awake_minutes(process(seldom)) == 24 * 6


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(0, 500), min_size=30, max_size=120), st.sampled_from(MODES), st.integers(1, 40),
    st.sampled_from([1, 5, 20]), st.floats(1, 400),
)  # fmt: skip
def test_more_workers_or_more_time_are_never_worse(jobs, mode, workers, chunk, objective) -> None:
    there = process(jobs, run=0.7)

    share = share_within(there, mode, workers, chunk, objective)

    assert 0 <= share <= share_within(there, mode, workers + 1, chunk, objective) + 1e-9
    assert share <= share_within(there, mode, workers, chunk, objective + 1) + 1e-9
    assert share_within(there, mode, workers, chunk + 1, objective) <= share + 1e-9


def test_chunks_are_as_large_as_pays_and_as_small_as_keeps_nobody_waiting() -> None:
    quick, slow = process(np.full(DAY, 600.0), run=0.005), process(np.full(DAY, 600.0), run=8.0)

    assert chunk_for(quick, question(), "minute") >= 10
    assert chunk_for(slow, question(), "minute") == 1
    assert chunk_for(replace(quick, run_p95=10.0), question(), "minute") == 1
    assert chunk_for(quick, question(), "prompt") == 1


def test_the_advice_is_the_simplest_mode_that_is_cheap_and_in_time() -> None:
    busy = process(np.full(DAY, 60.0), run=0.5)

    by_target = {
        objective: next(p for p in advise(busy, question(objective)) if p.chosen) for objective in (90, 5)
    }

    assert by_target[90].mode == "minute" and by_target[90].meets
    assert by_target[5].mode == "prompt"
    assert by_target[90].cost == pytest.approx(
        by_target[90].jobs_cost + by_target[90].glue_cost + by_target[90].ticks_cost
    )
    # 30.4 days of 86,400 jobs, half a second at half a gigabyte
    assert by_target[90].jobs_cost == pytest.approx(730 * 3600 * 0.25 * 1.33334e-5, rel=1e-6)
    assert "MINUTEHAND_CAPACITY=" in said(advise(busy, question()), question())[0]


def test_a_database_that_may_pause_changes_the_advice() -> None:
    seldom = np.zeros(DAY * 7)
    seldom[::60] = 20
    plans = {
        pauses: next(p for p in advise(process(seldom), question(pauses=pauses)) if p.chosen)
        for pauses in (False, True)
    }

    assert (plans[False].mode, plans[True].mode) == ("minute", "sleep")
    assert plans[True].awake_hours < 100
    assert "may pause" in " ".join(said(advise(process(seldom), question()), question()))


def test_nothing_is_advised_on_few_jobs_or_without_run_times() -> None:
    few, unknown = process([999.0] + [0.0] * DAY), process(np.full(DAY, 10.0), run=0.0)

    assert advise(few, question()) == advise(unknown, question()) == []
    assert "too few" in too_few(few) and "no run time" in too_few(unknown).lower().replace(
        "no attempt in the window has a", "no"
    )


def test_what_nothing_reaches_is_said() -> None:
    plans = advise(process(np.full(DAY, 10.0)), question(objective=0.1))

    assert not any(plan.meets for plan in plans)
    assert "No mode reaches 99 %" in " ".join(said(plans, question(objective=0.1)))
