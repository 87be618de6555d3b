"""The table of a measurement of queues."""

from collections.abc import Iterator, Mapping
from statistics import median

from rich.table import Table

from bench.queues.cases import CASES
from bench.queues.systems import OURS, System
from bench.results import Measurement
from bench.statistics import ratio, spread


def table(measured: Mapping[str, Measurement], systems: tuple[System, ...]) -> Table:
    """Return medians, and the speed of minutehand relative to each system in the same rounds."""
    titles = {system.name: system.title for system in systems}
    result = Table(
        "case", "system", "jobs/s", "minutehand / system", "spread", "client µs", "server µs", "WAL bytes"
    )
    for name, measurement in measured.items():
        for system, *cells in rows(measurement):
            style = "bold" if system == OURS else None
            result.add_row(CASES[name].title, titles[system], *cells, style=style)
        result.add_section()
    return result


def rows(measured: Measurement) -> Iterator[tuple[str, ...]]:
    """Yield the system, the median rate, the ratio, the spread and the costs, the fastest first."""
    ours = measured.rates.get(OURS)
    for name in sorted(measured.rates, key=lambda name: -median(measured.rates[name])):
        rates, costs = measured.rates[name], measured.costs[name].values()
        against = f"{ratio(ours, rates):.2f}" if ours and name != OURS else ""
        numbers = ("" if cost is None else f"{cost:,.0f}" for cost in costs)
        yield name, f"{median(rates):,.0f}", against, f"{spread(rates):.0%}", *numbers
