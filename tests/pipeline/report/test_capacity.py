"""The advice on capacity, verified with the simulator. These tests run without Spark."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from minutehand_pipeline.prices import LIST
from minutehand_pipeline.report.advice import (
    Advice,
    Goal,
    Sample,
    advice_sentences,
    advise,
    no_advice_reason,
    trial,
)
from minutehand_pipeline.report.advice.sample import MOST_OF_HOUR, busiest_hours_of
from minutehand_pipeline.report.advice.search import MARGIN, MOST_CAPACITY, choose_chunk
from minutehand_pipeline.report.advice.trial import Trials
from minutehand_pipeline.report.workload import Workload
from minutehand_pipeline.simulate.arrivals import Arrivals
from minutehand_pipeline.simulate.engine import Simulation
from minutehand_pipeline.simulate.policy import MODES, Policy
from tests.pipeline.simulate.cases import job, table

DAY = 1440


def workload(jobs: "list[float] | np.ndarray", run: float = 1.0, p95: float | None = None) -> Workload:
    counts = np.asarray(jobs, float)
    return Workload(counts, counts * run, 1.0, run, run if p95 is None else p95, 0.5)


def goal(objective: float = 90, target: float = 0.99) -> Goal:
    return Goal(objective, target, LIST, "arm64")


def poisson(rate: float, run: float, hours: int = 8) -> tuple[Workload, Sample]:
    """Return jobs that arrive at random, `rate` a second, and take `run` seconds each."""
    chance, seconds = np.random.default_rng(5), hours * 3600.0
    moments = np.sort(chance.uniform(0, seconds, chance.poisson(rate * seconds)))
    counts = np.zeros(DAY)
    counts[: hours * 60] = np.bincount((moments // 60).astype(int), minlength=hours * 60)
    rows = table([job(float(at), run) for at in moments])
    return workload(counts, run), Sample(rows, 0.0, seconds, hours)


@pytest.fixture(scope="module")
def busy() -> tuple[Workload, Sample]:
    """Jobs of 30 s that keep four workers busy for 80 % of the time."""
    return poisson(0.8 * 4 / 30, 30.0)


@pytest.fixture(scope="module")
def advice(busy: tuple[Workload, Sample]) -> Advice:
    """The advice for these jobs, of which 99 % must start within two minutes."""
    return advise(*busy, goal(120))


def again(jobs: tuple[Workload, Sample], advice: Advice, wanted: Goal, **changes: Any) -> Any:
    """Simulate the advised settings, with changes, for themselves."""
    first = advice.first
    values: dict[str, Any] = {
        "mode": first.mode,
        "capacity": first.capacity,
        "chunk": first.chunk,
        "jobs_per_invocation": first.jobs_per_invocation,
    } | changes
    trials = Trials(*jobs, jobs[1].with_more(MARGIN, 99), wanted)
    return trials.run(trials.policy(**values), with_more=True)


@pytest.mark.parametrize(
    ("objective", "mode", "capacity"), [(120.0, "minute", 5), (60.0, "minute", 6), (5.0, "prompt", 9)]
)
def test_advice_holds_in_the_simulation(
    busy: tuple[Workload, Sample], objective: float, mode: str, capacity: int
) -> None:
    wanted = goal(objective)

    advice = advise(*busy, wanted)

    assert advice.met and advice.first.mode == mode and abs(advice.first.capacity - capacity) <= 1
    # Also with other random jobs than those with which it was found.
    result = again(busy, advice, wanted)
    assert min(result.within, result.with_more) >= wanted.target - 0.002


def test_freed_slot_that_waits_for_a_tick_is_never_advised(
    busy: tuple[Workload, Sample], advice: Advice
) -> None:
    result = again(busy, advice, goal(120), jobs_per_invocation=1)

    assert not result.meets and result.drain > 600
    assert all(each.meets or not each.advised for each in advice.candidates)


def test_search_simulates_no_policy_twice(
    busy: tuple[Workload, Sample], monkeypatch: pytest.MonkeyPatch
) -> None:
    simulated: list[tuple[Policy, int]] = []

    class Recorded(Simulation):
        def __init__(self, policy: Policy, arrivals: Arrivals) -> None:
            simulated.append((policy, len(arrivals)))
            super().__init__(policy, arrivals)

    monkeypatch.setattr(trial, "Simulation", Recorded)
    advise(*busy, goal(120))

    assert len(simulated) == len(set(simulated)) > len(MODES)


def test_advice_lists_every_mode_once_with_further_jobs(advice: Advice) -> None:
    assert sorted(each.mode for each in advice.candidates if each.jobs_per_invocation > 1) == sorted(MODES)
    assert [each.advised for each in advice.candidates] == [True] + [False] * (len(advice.candidates) - 1)


def test_advice_states_the_margin_and_what_was_simulated(
    busy: tuple[Workload, Sample], advice: Advice
) -> None:
    first, second = advice_sentences(advice, goal(120), busy[0])

    assert f"MINUTEHAND_CAPACITY={advice.first.capacity}, " in first and "MINUTEHAND_MODE=minute" in first
    assert "with 10 % more jobs at resampled times" in first and "a month" in first
    assert "the busiest 8 successive hours" in second


def test_target_that_no_policy_meets_is_stated_with_the_nearest(busy: tuple[Workload, Sample]) -> None:
    wanted = goal(0.01)

    advice = advise(*busy, wanted)

    assert not advice.met and not any(each.advised for each in advice.candidates)
    assert advice.first.mode == "prompt" and advice.first.capacity < MOST_CAPACITY
    assert advice_sentences(advice, wanted, busy[0])[0].startswith(
        "No policy starts 99 % of the jobs within 10 ms."
    )


def test_costs_add_up_and_are_those_of_a_month() -> None:
    jobs = poisson(1.0, 0.5, hours=1)

    advice = advise(*jobs, goal(90))

    for each in advice.candidates:
        assert each.cost == pytest.approx(each.jobs_cost + each.overhead_cost + each.ticks_cost)
    month = float(jobs[0].jobs.sum()) * 730 / 24
    assert advice.first.jobs_cost == pytest.approx(month * 0.5 * 0.5 * 1.33334e-5, rel=1e-3)


def test_waiting_dispatcher_is_part_of_the_cost(advice: Advice) -> None:
    ticks = {each.mode: each.ticks_cost for each in advice.candidates}
    assert ticks["prompt"] > ticks["minute"] > 0


def test_more_jobs_are_a_tenth_more_in_the_same_time() -> None:
    _, sample = poisson(1.0, 0.5, hours=1)

    more = sample.with_more(0.1, 1)

    assert len(more.arrivals) == pytest.approx(1.1 * len(sample.arrivals), abs=1)
    assert more.arrivals.counted.all()


def test_more_jobs_do_not_depend_on_the_order_of_the_rows(busy: tuple[Workload, Sample]) -> None:
    sample = busy[1]
    backwards = replace(sample, rows=sample.rows.take(list(range(len(sample.rows)))[::-1]))

    assert backwards.with_more(0.1, 1).arrivals.due == sample.with_more(0.1, 1).arrivals.due


def test_chunks_are_large_only_for_short_jobs() -> None:
    quick, slow = workload(np.full(DAY, 600.0), run=0.005), workload(np.full(DAY, 600.0), run=8.0)

    assert choose_chunk(quick, goal()) >= 10
    assert choose_chunk(slow, goal()) == 1
    assert choose_chunk(workload(np.full(DAY, 600.0), run=0.005, p95=10.0), goal()) == 1


def test_busiest_hours_have_the_most_work_of_few_jobs() -> None:
    counts = np.full(DAY, 10.0)
    counts[600:720] = 50.0

    assert busiest_hours_of(workload(counts), most=6000) == (10, 12)
    assert busiest_hours_of(workload(counts), most=10) == (10, 11)
    assert busiest_hours_of(workload(counts), most=10**6) == (0, 24)
    assert busiest_hours_of(workload(np.full(DAY, MOST_OF_HOUR / 60 + 1))) is None


def test_report_without_enough_jobs_has_no_advice() -> None:
    few, unknown = workload([999.0] + [0.0] * DAY), workload(np.full(DAY, 10.0), run=0.0)

    assert "it needs at least 1,000 jobs" in no_advice_reason(few, None)
    assert "no attempt in the window has a run time" in no_advice_reason(unknown, None)
    assert "minutehand pipeline simulate" in no_advice_reason(workload(np.full(DAY, 10.0)), None)
