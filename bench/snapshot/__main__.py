"""Measure claims at a steady rate, with and without an old snapshot: python -m bench.snapshot."""

import click
from rich.console import Console
from rich.table import Table

from bench.machine import commit
from bench.page.snapshots import GOAL
from bench.queues.publish import publish_snapshots
from bench.results import Steady
from bench.snapshot.clients.steady import Load
from bench.snapshot.runs import SYSTEMS, run
from bench.snapshot.windows import Operations, compare

SCREEN = Console(width=120)
COLUMNS = ("p50", "p50 with snapshot", "p99", "p99 with snapshot", f"ratio of p99 (goal {GOAL})")


@click.command()
@click.option("--systems", default=",".join(SYSTEMS), show_default=True, help="Names separated by commas.")
@click.option("--seconds", default=600, show_default=True, help="Duration of each run; a system runs twice.")
@click.option("--rate", default=300, show_default=True, help="Jobs per second.")
@click.option("--workers", default=4, show_default=True)
@click.option(
    "--batch", default=10, show_default=True, help="Jobs per claim; some systems claim one at a time."
)
@click.option("--window", default=60, show_default=True, help="Seconds of a line of the table.")
@click.option("--save", is_flag=True, help="Publish the results of each system when it has run.")
def main(systems: str, seconds: int, rate: int, workers: int, batch: int, window: int, save: bool) -> None:
    """Compare the latency of claims with that of the same load while a REPEATABLE READ transaction is open.

    Each run has a new server, or a new database on that of DATABASE_URL. Peers are installed by `make bench/peers`.
    """
    measured_commit = commit() if save else ""
    load = Load(rate, seconds, workers, batch)
    for name in systems.split(","):
        if name not in SYSTEMS:
            raise click.UsageError(f"--systems must be of {', '.join(SYSTEMS)}, got {name}")
        system = SYSTEMS[name]
        if missing := system.missing:
            SCREEN.print(f"{system.title}: skipped; {missing}")
            continue
        clean, held = (run(system, load, held=each) for each in (False, True))
        measured = compare(clean, held, load, window)
        SCREEN.print(_table(system.title, measured, load, window))
        if save:
            publish_snapshots(
                system.title, Steady(measured_commit, seconds, rate, workers, batch, window, measured)
            )


def _table(title: str, operations: Operations, load: Load, window: int) -> Table:
    table = Table("operation", "seconds", title=f"{title}, {load.rate} jobs/s; milliseconds")
    for column in COLUMNS:
        table.add_column(column, justify="right")
    for operation, windows in sorted(operations.items()):
        for number, values in enumerate(windows, 1):
            cells = (f"{value:.2f}" for value in (*values, values[3] / values[2])) if values else ()
            table.add_row(operation, str(number * window), *cells)
    return table


if __name__ == "__main__":
    main(prog_name="python -m bench.snapshot")
