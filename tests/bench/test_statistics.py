"""Ratios compare runs of the same round, and rounds are shuffled reproducibly."""

import pytest

from bench.queues.cases import BATCH, BULK, ONE
from bench.queues.publish import measurement
from bench.queues.rounds import Turn, measure, turns
from bench.queues.runs import Run
from bench.queues.systems import BARE, LIMITS, MINUTEHAND, TABLE
from bench.statistics import ratio, spread


def test_ratio_compares_runs_of_the_same_round() -> None:
    # The machine is ten times as slow in the second round.
    assert ratio([100, 10, 120], [200, 20, 200]) == 0.5


@pytest.mark.parametrize(("ours", "other"), [([1.0], [1.0, 2.0]), ([], [])])
def test_ratio_needs_the_same_rounds(ours: list[float], other: list[float]) -> None:
    with pytest.raises(ValueError, match="same number of rounds"):
        ratio(ours, other)


def test_spread_is_relative_to_the_median() -> None:
    assert spread([90, 100, 130]) == 0.4


def test_each_round_runs_every_system_of_every_case() -> None:
    order = turns([ONE, BULK], LIMITS, rounds=3, seed=1)

    for number in (1, 2, 3):
        runs = {(turn.case, turn.system) for turn in order if turn.round == number}
        assert runs == {(ONE, MINUTEHAND), (ONE, BARE), (BULK, MINUTEHAND), (BULK, BARE), (BULK, TABLE)}
    assert [turn.round for turn in order] == sorted(turn.round for turn in order)


def test_seed_repeats_the_order_of_the_runs() -> None:
    orders = [turns([ONE, BATCH, BULK], LIMITS, rounds=4, seed=seed) for seed in (1, 1, 2)]

    assert orders[0] == orders[1]
    assert orders[0] != orders[2]


def test_measure_collects_runs_in_the_order_of_the_rounds() -> None:
    order = [Turn(1, ONE, BARE), Turn(1, ONE, MINUTEHAND), Turn(2, ONE, BARE), Turn(2, ONE, MINUTEHAND)]
    rates = iter([10.0, 20.0, 30.0, 40.0])

    runs = measure(order, lambda turn: Run(next(rates), client=1, server=None, wal=1))

    assert [run.rate for run in runs["one"]["bare"]] == [10, 30]
    assert [run.rate for run in runs["one"]["minutehand"]] == [20, 40]


def test_measurement_has_all_rates_and_median_costs() -> None:
    runs = [Run(10, client=1, server=5, wal=100), Run(30, client=9, server=7, wal=300), Run(20, 2, 6, 200)]

    result = measurement({"bare": runs}, "2026-01-02 03:04 UTC", ONE.load(5000, 4))

    assert (result.jobs, result.workers) == (5000, 4)
    assert result.rates == {"bare": [10, 30, 20]}
    assert result.costs == {"bare": {"client": 2, "server": 6, "wal": 200}}


def test_costs_of_a_remote_server_are_unknown() -> None:
    result = measurement({"bare": [Run(10, client=1, server=None, wal=1)]}, "", ONE.load(1, 1))

    assert result.costs["bare"]["server"] is None
