"""docs/performance.md and its plots show the results in bench/results.json, and explain what is slow."""

from dataclasses import replace
from pathlib import Path

import pytest

from bench import results
from bench.page.commands import ReasonError, command_runs
from bench.page.data import IMAGES, PLOTS, digest
from bench.page.snapshots import snapshot_runs
from bench.page.tables import tick_targets
from bench.page.targets import COMPARED, TARGETS, to_explain
from bench.page.titles import SYSTEMS
from bench.page.write import PAGE, README, archive_runs, page, readme, slower_cases
from bench.queues.cases import CASES, ONE_BATCH
from bench.queues.systems import LIMITS, OURS
from bench.results import Archives, Command, Commands, Measurement, Results, Steady
from bench.snapshot.clients.steady import Load
from bench.snapshot.runs import Sample
from bench.snapshot.windows import compare
from bench.tick import BACKLOGS

RESULTS = results.load()
UPDATE = "run: make docs/performance"


def measured(case: str = "one", **rates: float) -> Results:
    """Return results in which the systems of a case have these rates, and others are slower than we are."""
    slow = Measurement("", 1, 1, {name: [1.0] for name in SYSTEMS} | {OURS: [100.0]}, {})
    chosen = replace(slow, rates=slow.rates | {name: [rate] for name, rate in rates.items()})
    return Results(cases=dict.fromkeys(COMPARED, slow) | {case: chosen})


def test_page_shows_the_published_results() -> None:
    assert PAGE.read_text("utf-8") == page(RESULTS), UPDATE


def test_readme_shows_the_published_results() -> None:
    assert README.read_text("utf-8") == readme(RESULTS), UPDATE


@pytest.mark.parametrize("name", PLOTS)
def test_plot_shows_the_published_results(name: str) -> None:
    assert digest(PLOTS[name](RESULTS)) in (IMAGES / name).read_text("utf-8"), UPDATE


def test_results_contain_every_case() -> None:
    # It may not be published yet.
    assert set(RESULTS.cases) | {ONE_BATCH.name} == set(CASES)


@pytest.mark.parametrize("name", RESULTS.cases)
def test_case_contains_every_system_and_round(name: str) -> None:
    systems = SYSTEMS.values() if name in ("one", "batch", "bulk", "backlog", "old-snapshot") else LIMITS
    case = RESULTS.cases[name]

    assert set(case.rates) == {system.name for system in systems if name in system.cases}
    assert set(case.costs) == set(case.rates)
    assert {len(rounds) for rounds in case.rates.values()} == {len(case.rates[OURS])}
    assert " UTC, on " in case.commit


def test_results_contain_a_tick_of_each_backlog() -> None:
    for cases in (RESULTS.ticks.milliseconds, RESULTS.ticks.offers):
        assert set(cases) >= {"plain", "one limit", "1,000 tenants"}
        assert {len(taken) for taken in cases.values()} == {len(BACKLOGS)}


def test_offers_of_a_tick_are_compared_with_their_targets() -> None:
    offers = {"plain": {"10": 2.0, "100": 4.0}, "one limit": {"10": 5.0, "100": 6.0}}

    shown = tick_targets({**offers, "1,000 tenants": {"10": 30.0, "100": 25.0}})

    assert "they took 25.0 ms, which meets the target. With one limit, they took at most 2.50 times" in shown
    assert shown.endswith("times the plain time, which misses the target.")


def test_archives_are_shown_with_the_range_of_their_ratios() -> None:
    p99s = {"adaptive": [[12.0, 10.0], [10.0, 10.0], [30.0, 10.0]]}
    shown = archive_runs(Results(archives=Archives("now", 1000, {"adaptive": [5.0, 4.0, 6.0]}, p99s, p99s)))

    assert "| adaptive | 5 | 12.0 ms | 10.0 ms | 1.20 (1.00 to 3.00) | 12.0 ms" in shown
    assert "\n\nThe day has 1,000 jobs. The ratio is the median of 3 rounds" in shown


def test_archives_that_miss_the_target_are_named() -> None:
    claims = {"1": [[11.0, 10.0]], "2": [[11.0, 10.0]]}
    offers = {"1": [[12.0, 10.0]], "2": [[13.0, 10.0]]}
    shown = archive_runs(Results(archives=Archives("now", 1000, {"1": [5.0], "2": [6.0]}, offers, claims)))

    assert "These rows miss the target: 2. The day has" in shown


def test_commands_are_shown_with_their_targets() -> None:
    lines = {
        "report of 1,000 jobs": Command(9.5, 12.0, 0.2, 8),
        "report of 1,000 jobs, no new day": Command(3.0, 2.0),
        "report of 2,000 jobs": Command(9.5, 18.0),
    }
    shown = command_runs(
        Results(commands=Commands("now", 12.2, lines)), {"report of 1,000 jobs": "Java starts."}
    )

    assert (
        "| report of 1,000 jobs | 9.5 s | 12.0 s | 0.2 s | 8 s |\n| report of 1,000 jobs, no new day | 3.0 s"
        in shown
    )
    assert "The average load of the two cores was 12.2 at the end" in shown
    assert "2 times the jobs took 1.5 times the processor time (from 1,000 to 2,000)." in shown
    assert "- **report of 1,000 jobs** misses its target of 8 s. Java starts." in shown


def test_command_that_misses_its_target_needs_a_reason() -> None:
    lines = {"report": Command(9.5, 12.0, 0.2, 8)}

    with pytest.raises(ReasonError, match=r"must explain commands\.'report'"):
        command_runs(Results(commands=Commands("now", 12.2, lines)), {})


def test_snapshots_are_shown_with_the_length_of_their_runs() -> None:
    claims: list[list[float] | None] = [[1.0, 1.0, 2.0, 2.5], [1.0, 2.0, 2.0, 5.0]]
    offers: list[list[float] | None] = [[1.0, 1.0, 2.0, 2.0], [1.0, 1.0, 2.0, 3.0]]
    ours = Steady(
        "now", 40, 300, workers=4, batch=10, window=20, operations={"claim": claims, "offer": offers}
    )
    theirs = Steady("then", 120, 300, workers=4, batch=10, window=60, operations={"claim": [claims[0], None]})
    shown = snapshot_runs({"ours": ours, "theirs": theirs})

    assert "These systems ran twice for 40 seconds at 300 jobs per second" in shown
    assert shown.index("| theirs: claim |") < shown.index("| ours: claim |")
    assert "| ours: claim | 1.00 ms | 2.00 ms | 2.00 ms | 5.00 ms | 1.25 | 2.50 |" in shown
    assert "these were above the target: ours (claim, 2.50)." in shown
    assert "these were above the target: theirs (claim, no samples)." in shown
    assert "| no samples | 1.25 | no samples |" in shown


def test_samples_of_both_runs_are_compared_by_window() -> None:
    clean = [Sample("claim", second, ms=second) for second in range(4)] + [Sample("claim", 4.5, ms=9)]
    held = [Sample("claim", second, ms=2 * second) for second in range(4)]
    both = [[1, 2, 1, 2], [3, 6, 3, 6]]

    assert compare(clean, held, Load(1, 4, 1, 1), window=2) == {"claim": both}
    assert compare(clean, held[:2], Load(1, 4, 1, 1), window=2) == {"claim": [both[0], None]}


def test_targets_concern_measured_systems() -> None:
    for target in TARGETS:
        assert target.case in SYSTEMS[target.system].cases


def test_slower_case_and_missed_target_need_a_reason() -> None:
    # The target against pg-boss in batches is 1.2, and 0.6 against pgmq, which is slower here.
    chosen = measured("batch", **{"pg-boss": 90.0, "pgmq": 200.0, "docmq": 99.0})

    assert to_explain(chosen.cases) == [("batch", "pgmq"), ("batch", "pg-boss")]


def test_unexplained_slower_case_is_an_error() -> None:
    chosen = measured("single", docmq=200.0)

    with pytest.raises(ReasonError, match=r"must explain single\.docmq"):
        slower_cases(chosen)


def test_results_survive_saving(tmp_path: Path) -> None:
    file = tmp_path / "results.json"

    results.save(RESULTS, file)

    assert results.load(file) == RESULTS
    assert file.read_text("utf-8") == results.FILE.read_text("utf-8")
