"""Measure claims at a steady rate, with and without an old snapshot: python -m bench.snapshot."""

from collections import defaultdict

import click
from rich.console import Console
from rich.table import Table

from bench.snapshot.clients.steady import Load
from bench.snapshot.runs import SYSTEMS, Sample, System, run

SCREEN = Console(width=120)
GOAL = 1.5
Windows = dict[tuple[str, int], list[float]]


@click.command()
@click.option("--systems", default=",".join(SYSTEMS), show_default=True, help="Names separated by commas.")
@click.option("--seconds", default=600, show_default=True, help="Duration of each run; a system runs twice.")
@click.option("--rate", default=300, show_default=True, help="Jobs per second.")
@click.option("--workers", default=4, show_default=True)
@click.option(
    "--batch", default=10, show_default=True, help="Jobs per claim; some systems claim one at a time."
)
@click.option("--window", default=60, show_default=True, help="Seconds of a line of the table.")
def main(systems: str, seconds: int, rate: int, workers: int, batch: int, window: int) -> None:
    """Compare the latency of claims with that of the same load while a REPEATABLE READ transaction is open.

    Each run has a new server, or a new database on that of DATABASE_URL. Peers are installed by `make bench/peers`.
    """
    load = Load(rate, seconds, workers, batch)
    for name in systems.split(","):
        if name not in SYSTEMS:
            raise click.UsageError(f"--systems must be of {', '.join(SYSTEMS)}, got {name}")
        if missing := SYSTEMS[name].missing:
            SCREEN.print(f"{SYSTEMS[name].title}: skipped; {missing}")
            continue
        SCREEN.print(_table(SYSTEMS[name], load, window))


def _table(system: System, load: Load, window: int) -> Table:
    clean = _windows(run(system, load, held=False), load, window)
    held = _windows(run(system, load, held=True), load, window)
    table = Table("operation", "seconds", title=f"{system.title}, {load.rate} jobs/s; milliseconds")
    for column in ("p50", "p50 with snapshot", "p99", "p99 with snapshot", f"ratio of p99 (goal {GOAL})"):
        table.add_column(column, justify="right")
    for key in sorted(clean.keys() & held.keys()):
        table.add_row(key[0], str((key[1] + 1) * window), *_cells(clean[key], held[key]))
    return table


def _windows(samples: list[Sample], load: Load, window: int) -> Windows:
    windows: Windows = defaultdict(list)
    for sample in samples:
        if sample.second < load.seconds:
            windows[sample.name, int(sample.second // window)].append(sample.ms)
    return windows


def _cells(clean: list[float], held: list[float]) -> list[str]:
    medians, tails = ([_percentile(each, part) for each in (clean, held)] for part in (0.5, 0.99))
    return [*(f"{value:.2f}" for value in (*medians, *tails)), f"{tails[1] / tails[0]:.2f}"]


def _percentile(values: list[float], part: float) -> float:
    return sorted(values)[min(len(values) - 1, int(part * len(values)))]


if __name__ == "__main__":
    main(prog_name="python -m bench.snapshot")
