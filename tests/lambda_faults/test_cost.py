"""The costs computed from the history are those that the emulator meters, in each mode."""

from itertools import product
from pathlib import Path

import pytest

from emulator.parts import architecture
from minutehand.costs.dispatcher import DispatcherCosts, Mode
from minutehand.costs.report import MODES
from tests.lambda_faults.cost_runs import LATER, MINUTES, Run, run
from tests.servers import Servers

pytestmark = pytest.mark.programs

Runs = dict[Mode, Run]


@pytest.fixture(scope="module")
def runs(servers: Servers, tree: Path) -> Runs:
    """The same work in each mode."""
    address, found = servers.address("direct-18"), Runs()
    for mode in MODES:
        database = address.make()
        found[mode] = run(mode, database, tree)
        address.drop(database)
    return found


@pytest.mark.parametrize("mode", MODES)
def test_reported_usage_is_within_5_percent_of_the_meter(runs: Runs, mode: Mode) -> None:
    metered, report = runs[mode].metered, runs[mode].costs(architecture()).report(mode)
    (spend,) = report.kinds

    assert (spend.kind, round(spend.invocations), spend.memory_mb) == (
        "spend",
        metered.workers.invocations,
        512,
    )
    assert report.dispatcher.recorded
    assert report.dispatcher.invocations == metered.dispatcher.invocations
    assert report.dispatcher.scheduled == metered.scheduled
    assert spend.gb_seconds == pytest.approx(metered.workers.gb_seconds, rel=0.05)
    assert spend.gb_seconds + report.dispatcher.gb_seconds == pytest.approx(metered.gb_seconds, rel=0.05)
    assert report.total == pytest.approx(metered.dollars(runs[mode].prices, architecture()), rel=0.05)
    assert report.alternatives[0].dollars == report.total


OTHERS = pytest.mark.parametrize(
    ("known", "mode"), [pair for pair in product(MODES, MODES) if pair[0] != pair[1]]
)


@OTHERS
def test_estimate_for_another_mode_has_the_calls_of_its_meter(runs: Runs, known: Mode, mode: Mode) -> None:
    history, metered = runs[known], runs[mode].metered
    dispatcher = DispatcherCosts(history.prices, architecture(), history.by_dispatcher)
    estimated = dispatcher.estimated(mode, MINUTES, history.work)
    workers = history.work.prompt_invocations if mode == "prompt" else history.work.tick_invocations

    assert workers == metered.workers.invocations
    assert round(estimated.invocations) == metered.dispatcher.invocations - metered.repeated
    assert round(estimated.scheduled) == metered.scheduled - metered.repeated
    assert history.work.wait_seconds == MINUTES * LATER.total_seconds()


@OTHERS
def test_estimate_for_another_mode_is_within_5_percent(runs: Runs, known: Mode, mode: Mode) -> None:
    """With the figures of both modes, and without the time of handlers, which only the machine's load changes."""
    history, other = runs[known], runs[mode]
    report = history.costs(architecture(), mode, other.prices).report(known)
    (estimated,) = (each.dollars for each in report.alternatives if each.name == f"minutehand, mode {mode}")
    metered = other.metered.dollars(other.prices, architecture())

    difference = (estimated - handlers(history)) - (metered - handlers(other))
    assert abs(difference) <= 0.05 * metered


def handlers(run: Run) -> float:
    """Return the price of the time of a run's handlers."""
    (spend,) = run.used
    return run.prices.run(spend.ran_ms, spend.memory_mb, architecture())
