"""The sections about batches, groups, further jobs and waits show their results, and explain missed targets."""

import pytest

from bench.page.commands import ReasonError
from bench.page.dispatching import NOTHING, batch_runs, further_runs, offer_runs, wait_runs
from bench.page.targets import BATCH_MOST
from bench.queues.cases import ONE_BATCH
from bench.queues.systems import IN_BATCH, OURS
from bench.results import Further, Measurement, Offers, Results, Waits


def batches(times: float) -> Results:
    """Return results in which a batch takes so many times as long."""
    rates = {OURS: [100 * times, 200 * times, 90 * times], IN_BATCH.name: [100.0, 200.0, 90.0]}
    costs: dict[str, dict[str, float | None]] = {
        OURS: {"client": 50, "server": 60, "wal": 1000},
        IN_BATCH.name: {"client": 51, "server": None, "wal": 1300},
    }
    return Results(cases={ONE_BATCH.name: Measurement("now", 10_000, 4, rates, costs)})


def test_sections_without_results_say_so() -> None:
    sections = (
        batch_runs(Results(), {}),
        offer_runs(Offers(), {}),
        further_runs(Further()),
        wait_runs(Waits()),
    )

    assert set(sections) == {NOTHING}


def test_batch_is_shown_with_how_long_it_takes() -> None:
    shown = batch_runs(batches(1.2), {})

    assert shown.startswith("10,000 jobs, 4 workers, and the median of 3 rounds.")
    assert "| minutehand | 120 | 110% |  | 50 | 60 | 1,000 |" in shown
    assert "| minutehand, in one batch | 100 | 110% | 1.20 | 51 |  | 1,300 |" in shown
    assert "misses" not in shown


def test_batch_that_misses_its_target_needs_a_reason() -> None:
    slow = batches(BATCH_MOST + 0.1)

    with pytest.raises(ReasonError, match="must explain 'one-batch'"):
        batch_runs(slow, {})
    shown = batch_runs(slow, {"one-batch": "It counts."})
    assert "- **one-batch** misses the target of 1.3: 1.40. It counts." in shown


def test_offers_are_shown_with_the_median_of_their_rounds() -> None:
    rounds: list[list[float | None]] = [[20.0, 12.0], [30.0, 10.0], [22.0, 14.0]]
    shown = offer_runs(Offers("now", 1000, 2000, 100, {"groups": rounds}), {})

    assert shown.startswith("1,000 groups with 2,000 jobs, and an offer of up to 100 of them.")
    assert "|  | time | CPU of the server |" in shown
    assert "| groups | 22.0 ms | 12.0 ms |" in shown


def test_offers_of_a_server_elsewhere_have_no_processor_time() -> None:
    shown = offer_runs(Offers("now", 1000, 2000, 100, {"groups": [[20.0, None]]}), {})

    assert "|  | time |\n| --- | --: |\n| groups | 20.0 ms |" in shown


def test_slow_offer_needs_a_reason() -> None:
    slow = Offers("now", 1000, 2000, 100, {"tenants": [[35.0, 20.0]]})

    with pytest.raises(ReasonError, match="must explain 'tenants'"):
        offer_runs(slow, {})
    assert "- **tenants** misses the target of 25 ms: 35.0 ms. Visits." in offer_runs(
        slow, {"tenants": "Visits."}
    )


def test_further_jobs_are_compared_with_the_possible_ones() -> None:
    shown = further_runs(Further("now", capacity=5, seconds=3, minutes=2, rates={"100": 95.0, "1": 5.0}))

    assert "| up to 100 jobs | 95.0 | 100 | 0.95 |" in shown
    assert "| only the jobs it was invoked for | 5.0 | 5 | 1.00 |" in shown


def test_waits_are_shown_next_to_the_theory() -> None:
    waits = {"measured": [0.2, 1.6, 2.5], "M/D/4 in the long run": [0.14, 1.52, 2.45]}
    shown = wait_runs(Waits("now", 4, 0.8, 1.0, 480, waits))

    assert "480 jobs of 1 s arrived at random and used 80% of it." in shown
    assert (
        "| measured | 0.20 s | 1.60 s | 2.50 s |\n| M/D/4 in the long run | 0.14 s | 1.52 s | 2.45 s |"
        in shown
    )
