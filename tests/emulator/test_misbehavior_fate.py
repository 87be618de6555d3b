"""A seed decides the misbehavior: the same seed decides the same, within the requested odds."""

from collections import Counter
from typing import Any

import pytest

from emulator.misbehavior import Misbehavior, Throttle

MANY = range(2000)
WORST: dict[str, Any] = {
    "kill": 0.1,
    "freeze": 0.1,
    "overrun": 0.1,
    "duplicate": 0.05,
    "late": 0.1,
    "lose": 0.1,
}


def decided(misbehavior: Misbehavior, function: str = "Echo") -> list[Any]:
    return [(misbehavior.delivery(function, n), misbehavior.run(function, n)) for n in MANY]


def test_same_seed_decides_the_same_in_any_order() -> None:
    one, other = Misbehavior(7, **WORST), Misbehavior(7, **WORST)
    backwards = [other.run("Echo", n) for n in reversed(MANY)]

    assert [one.run("Echo", n) for n in MANY] == backwards[::-1]
    assert decided(one) == decided(other)


def test_fate_depends_on_seed_function_and_run() -> None:
    worst = Misbehavior(7, **WORST)

    assert decided(worst) != decided(Misbehavior(8, **WORST))
    assert decided(worst) != decided(worst, "Patient")
    assert [worst.run("Echo", n, 1) for n in MANY] != [worst.run("Echo", n, 2) for n in MANY]


def test_fate_of_events_is_independent_of_runs() -> None:
    one, other = Misbehavior(7, duplicate=0.05, late=0.1), Misbehavior(7, **WORST | {"lose": 0})

    assert [one.delivery("Echo", n) for n in MANY] == [other.delivery("Echo", n) for n in MANY]


@pytest.mark.parametrize("seed", range(3))
def test_each_misbehavior_is_as_frequent_as_its_odds(seed: int) -> None:
    worst = Misbehavior(seed, **WORST)
    words = Counter(worst.delivery("Echo", n).word for n in MANY)
    runs = [worst.run("Echo", n) for n in MANY]

    assert 0.04 < words["duplicated"] / len(MANY) < 0.06
    assert all(0.08 < words[word] / len(MANY) < 0.12 for word in ("lost", "delayed"))
    assert 0.08 < sum(run.kill is not None for run in runs) / len(MANY) < 0.12
    assert 0.08 < sum(run.freeze is not None for run in runs) / len(MANY) < 0.12
    assert 0.08 < sum(run.overrun == 0.68 for run in runs) / len(MANY) < 0.12


def test_times_and_delays_are_within_their_limits() -> None:
    worst = Misbehavior(
        7, kill=0.5, freeze=0.5, within=0.3, duplicate=0.5, late=0.5, late_by=(90, 100), apart=10
    )
    runs = [worst.run("Echo", n) for n in MANY]
    moments = [run.freeze if run.kill is None else run.kill for run in runs]
    deliveries = [worst.delivery("Echo", n) for n in MANY]

    assert all(moment is not None and 0 <= moment < 0.3 for moment in moments)
    assert all(90 <= each.delays[0] <= 100 for each in deliveries if each.word == "delayed")
    assert all(
        each.delays[0] == 0 <= each.delays[1] <= 10 for each in deliveries if each.word == "duplicated"
    )


def test_misbehavior_requires_odds_for_the_function() -> None:
    for well in (Misbehavior(7), Misbehavior(7, functions={"Patient"}, **WORST)):
        assert {(delivery.delays, run.kill, run.freeze, run.overrun) for delivery, run in decided(well)} == {
            ((0.0,), None, None, 0.0)
        }


@pytest.mark.parametrize(
    "odds", [{"kill": 1.1}, {"lose": -0.1}, {"kill": 0.6, "freeze": 0.6}, {"late": 1, "lose": 1}]
)
def test_invalid_odds_are_rejected(odds: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"from 0 to 1|at most 1"):
        Misbehavior(7, **odds)


def test_repr_reproduces_the_misbehavior() -> None:
    worst = Misbehavior(
        7, kill=0.25, functions={"Echo"}, throttle=Throttle(concurrency=2), hops=None, late_by=(1.0, 2.0)
    )

    again = eval(repr(worst), {"Misbehavior": Misbehavior, "Throttle": Throttle})

    assert repr(again) == repr(worst)
    assert decided(again) == decided(worst)
    assert repr(Misbehavior(8)) == "Misbehavior(8)"
