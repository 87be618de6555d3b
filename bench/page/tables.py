"""The tables of the page, in Markdown."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import median

from bench.page.targets import ONE_LIMIT_MOST, TARGETS, TICK_OFFER_MOST
from bench.page.titles import TITLES
from bench.queues.cases import BACKLOGS, CASES, CHUNKS, WORKERS, chunked
from bench.queues.systems import OURS
from bench.results import Measurement, Results
from bench.statistics import ratio, spread

TENANTS = "1,000 tenants"
P99 = ("during", "before", "ratio")


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; all columns but the first are numbers."""
    lines = ["| " + " | ".join(cells) + " |" for cells in (head, ["---", *["--:"] * (len(head) - 1)], *rows)]
    return "\n".join(lines)


def case_table(results: Results, name: str) -> str:
    """Return the rates of a case, the fastest first, with two ratios: to the bare statements, and ours to each."""
    rates = results.cases[name].rates
    order = sorted(rates, key=lambda system: -median(rates[system]))
    rows = (
        (
            _emphasized(system),
            f"{median(rates[system]):,.0f}",
            f"{spread(rates[system]):.0%}",
            f"{ratio(rates[system], rates['bare']):.2f}",
            "" if system == OURS else f"{ratio(rates[OURS], rates[system]):.2f}",
        )
        for system in order
    )
    return markdown(("", "jobs/s", "spread", "of bare psycopg", "minutehand / this"), rows)


def backlog_table(results: Results) -> str:
    """Return the rates of a backlog without and with an old snapshot, the fastest with it first."""
    plain, held = (results.cases[case.name].rates for case in BACKLOGS)
    rows = (
        (
            _emphasized(system),
            f"{median(plain[system]):,.0f}",
            f"{median(held[system]):,.0f}",
            f"{ratio(held[system], plain[system]):.2f}",
            "" if system == OURS else f"{ratio(held[OURS], held[system]):.2f}",
        )
        for system in sorted(held, key=lambda system: -median(held[system]))
    )
    return markdown(("", "jobs/s", "jobs/s, old snapshot", "ratio", "minutehand / this, old snapshot"), rows)


def cost_table(results: Results, name: str) -> str:
    """Return what a job costs in a case, by system."""
    costs = results.cases[name].costs
    order = sorted(costs, key=lambda system: _total(costs[system]))
    rows = ((_emphasized(system), *(_number(cost) for cost in costs[system].values())) for system in order)
    return markdown(("", "client, µs", "server, µs", "WAL, bytes"), rows)


def target_table(results: Results) -> str:
    """Return the targets, the measured ratios, and whether each target is met."""
    rows = []
    for target in TARGETS:
        reached = target.reached(results.cases)
        met = "met" if reached >= target.least else "**missed**"
        what = f"{CASES[target.case].title}, against {TITLES[target.system]}"
        lowest, highest = target.extremes(results.cases)
        rows.append((what, f"{target.least:.1f}", f"{reached:.2f}", f"{lowest:.2f} to {highest:.2f}", met))
    return markdown(("", "target", "measured", "lowest and highest round", ""), rows)


def grid_table(results: Results) -> str:
    """Return our rates by chunk and workers."""
    rows = (
        (f"chunks of {chunk}", *(_rate(results.cases[chunked(chunk, workers).name]) for workers in WORKERS))
        for chunk in CHUNKS
    )
    return markdown(("", *(_workers(count) for count in WORKERS)), rows)


def tick_table(cases: Mapping[str, Mapping[str, float]]) -> str:
    """Return the milliseconds of a tick, or of its offers, by case and backlog."""
    backlogs = next(iter(cases.values()))
    rows = ((case, *(f"{ms:.1f} ms" for ms in taken.values())) for case, taken in cases.items())
    return markdown(("", *(f"{int(due):,} due" for due in backlogs)), rows)


def tick_targets(offers: Mapping[str, Mapping[str, float]]) -> str:
    """Return how the offers of a tick compare with their targets: in milliseconds, and with one limit."""
    tenants = list(offers[TENANTS].values())[-1]
    times = max(limited / offers["plain"][due] for due, limited in offers["one limit"].items())
    return (
        f"With {TENANTS} and the most due jobs, they took {tenants:.1f} ms, which {_met(tenants, TICK_OFFER_MOST)}. "
        f"With one limit, they took at most {times:.2f} times the plain time, which {_met(times, ONE_LIMIT_MOST)}."
    )


def _met(value: float, most: float) -> str:
    return "meets the target" if value <= most else "misses the target"


def archive_table(results: Results) -> str:
    """Return the rows per second of an archive by its readers, and what it does to the p99 of offers and claims."""
    archives = results.archives
    rows = (
        (
            name,
            f"{median(rates):,.0f}",
            *(cell for p99s in (archives.offers[name], archives.claims[name]) for cell in _p99(p99s)),
        )
        for name, rates in sorted(archives.rates.items())
    )
    head = ("readers", "rows/s", *(f"{what}, {column}" for what in ("offer", "claim") for column in P99))
    return markdown(head, rows)


def command_table(results: Results) -> str:
    """Return the time of the pipeline's commands, next to DuckDB's and the target."""
    rows = (
        (
            name,
            f"{line.seconds:.1f} s",
            f"{line.processor:.1f} s",
            "" if line.reference is None else f"{line.reference:.1f} s",
            "" if line.target is None else f"{line.target:.0f} s",
        )
        for name, line in results.commands.lines.items()
    )
    return markdown(("", "time", "processor time", "DuckDB", "target"), rows)


def _p99(pairs: Sequence[Sequence[float]]) -> tuple[str, str, str]:
    """Return the medians of p99 with an archive and without, and their ratio with its range."""
    ratios = [with_it / without for with_it, without in pairs]
    with_it, without = (median(pair[side] for pair in pairs) for side in (0, 1))
    return (
        f"{with_it:.1f} ms",
        f"{without:.1f} ms",
        f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})",
    )


def _workers(count: int) -> str:
    return "1 worker" if count == 1 else f"{count} workers"


def _rate(case: Measurement) -> str:
    return f"{median(case.rates[OURS]):,.0f}"


def _emphasized(system: str) -> str:
    return f"**{TITLES[system]}**" if system == OURS else TITLES[system]


def _total(costs: dict[str, float | None]) -> float:
    return sum(cost or 0 for name, cost in costs.items() if name != "wal")


def _number(cost: float | None) -> str:
    return "" if cost is None else f"{cost:,.0f}"
