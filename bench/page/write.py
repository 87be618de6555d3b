"""The text of the page: its template, with tables and figures in place of {{ name argument ... }}."""

import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from statistics import median

from bench.page.commands import ReasonError, command_runs
from bench.page.comparison import compare
from bench.page.dispatching import batch_runs, further_runs, offer_runs, wait_runs
from bench.page.snapshots import snapshot_runs
from bench.page.tables import (
    archive_table,
    backlog_table,
    case_table,
    cost_table,
    grid_table,
    target_table,
    tick_table,
    tick_targets,
)
from bench.page.targets import ARCHIVE_MOST, to_explain
from bench.page.titles import TITLES
from bench.page.year import executor_runs, year_runs
from bench.queues.cases import CASES
from bench.queues.systems import OURS
from bench.results import Archives, Results
from bench.statistics import ratio

HERE = Path(__file__).parent
TEMPLATE = HERE / "performance.md"
REASONS = HERE / "reasons.toml"
ROOT = HERE.parents[1]
PAGE = ROOT / "docs" / "performance.md"
README = ROOT / "README.md"
# Of the line with the figures.
START = "Four workers that fetch one job at a time"
LINK = "[Performance](docs/performance.md)"
PLACE = re.compile(r"\{\{ ([\w-]+)((?: [\w.-]+)*) \}\}")


def page(results: Results) -> str:
    """Return the page. Raise KeyError if a result is missing, and ReasonError if an explanation is."""
    parts: dict[str, Callable[..., str]] = {
        "case": lambda name: case_table(results, name),
        "backlogs": lambda: backlog_table(results),
        "costs": lambda name: cost_table(results, name),
        "targets": lambda: target_table(results),
        "grid": lambda: grid_table(results),
        "ticks": lambda: tick_table(results.ticks.milliseconds),
        "tick-offers": lambda: tick_table(results.ticks.offers),
        "tick-targets": lambda: tick_targets(results.ticks.offers),
        "ticks-measured": lambda: results.ticks.commit,
        "archives": lambda: archive_runs(results),
        "commands": lambda: command_runs(results, _reasons()["commands"]),
        "year": lambda: year_runs(results.year, _reasons()["year"]),
        "executors": lambda: executor_runs(results.executors),
        "one-batch": lambda: batch_runs(results, _reasons()["dispatching"]),
        "groups": lambda: offer_runs(results.offers, _reasons()["dispatching"]),
        "further-jobs": lambda: further_runs(results.further),
        "prompt-load": lambda: wait_runs(results.waits),
        "snapshots": lambda: snapshot_runs(results.snapshots),
        "slower": lambda: slower_cases(results),
        "machine": lambda: ", ".join(f"{name} {value}" for name, value in results.machine.items()),
        "versions": lambda: ", ".join(f"{name} {value}" for name, value in results.versions.items()),
        "measured": lambda name: results.cases[name].commit,
        "jobs": lambda name: f"{results.cases[name].jobs:,}",
        "rounds": lambda name: str(len(results.cases[name].rates[OURS])),
        "rate": lambda name, system: f"{median(results.cases[name].rates[system]):,.0f}",
        "compare": lambda name: compare(results, name),
        "ratio": lambda name, system: f"{_ratio(results, name, system):.2f}",
    }
    template = TEMPLATE.read_text("utf-8")
    return PLACE.sub(lambda match: parts[match[1]](*match[2].split()), template)


def readme(results: Results) -> str:
    """Return the README with the figures of these results in the line that links to the page."""
    lines = README.read_text("utf-8").splitlines(keepends=True)
    places = [number for number, line in enumerate(lines) if LINK in line and line.startswith(START)]
    if len(places) != 1:
        raise ValueError(f"README.md must have one line that starts with {START!r} and contains {LINK}")
    return "".join([*lines[: places[0]], summary(results) + "\n", *lines[places[0] + 1 :]])


def summary(results: Results) -> str:
    """Return the line of the README."""
    one, batch = (_ratio(results, case, "bare") for case in ("one", "batch"))
    return (
        f"{START} reach {one:.0%} of the throughput of a psycopg loop with two bare statements; "
        f"in batches of 100, they reach {batch:.0%}. {LINK} compares other queues, including the faster ones."
    )


def slower_cases(results: Results) -> str:
    """Return the lost cases and the missed targets, each with its reason."""
    reasons = _reasons()
    return (
        "\n".join(_reason(results, reasons, *pair) for pair in to_explain(results.cases))
        or "None in this run."
    )


def archive_runs(results: Results) -> str:
    """Return the table of archives, and how it was measured."""
    archives = results.archives
    if not archives.rates:
        return "No results are published yet: so far, other programs used the machine too, and determined the p99."
    rounds = max(map(len, archives.rates.values()))
    return (
        f"{archive_table(results)}\n\n{_missed_by(archives)}"
        f"The day has {archives.rows:,} jobs. The ratio is the median of {rounds} rounds, "
        f"with the lowest and the highest. The measured commit is of {archives.commit}."
    )


def _missed_by(archives: Archives) -> str:
    """Return which rows miss the target of the p99."""
    missed = [
        name
        for name in archives.rates
        if any(
            median(during / before for during, before in pairs[name]) > ARCHIVE_MOST
            for pairs in (archives.offers, archives.claims)
        )
    ]
    if len(missed) == len(archives.rates):
        return "Every row misses the target. "
    return f"These rows miss the target: {', '.join(missed)}. " if missed else ""


def _reasons() -> dict[str, dict[str, str]]:
    return tomllib.loads(REASONS.read_text("utf-8"))


def _reason(results: Results, reasons: dict[str, dict[str, str]], case: str, system: str) -> str:
    reason = reasons.get(case, {}).get(system)
    if reason is None:
        raise ReasonError(f"{REASONS.name} must explain {case}.{system}, which is lost or misses its target")
    costs = _costs(results, case, system)
    return (
        f"- **{CASES[case].title}, {TITLES[system]}**: {_ratio(results, case, system):.2f}. {reason}{costs}"
    )


def _costs(results: Results, case: str, system: str) -> str:
    """Return the processor time of a job in both systems."""
    costs = results.cases[case].costs
    if system not in costs:
        return ""
    ours, theirs = (
        f"{costs[name]['client']:,.0f} + {costs[name]['server']:,.0f} µs" for name in (OURS, system)
    )
    return f" Client and server: {theirs}, minutehand {ours}."


def _ratio(results: Results, case: str, system: str) -> float:
    rates = results.cases[case].rates
    return ratio(rates[OURS], rates[system])
