"""Run the benchmarks: python -m bench."""

import os
from collections.abc import Sequence

import click
from rich.console import Console
from rich.table import Table

from bench.machine import commit
from bench.measure import Measured
from bench.others import DAYS, REPORT, archives, commands, others, ticks
from bench.queues.cases import BACKLOGS, GRID, HOT_PATHS, ONE_BATCH
from bench.queues.plan import SCREEN, Plan, options, seeded
from bench.queues.publish import publish, publish_archives, publish_commands, publish_record, publish_ticks
from bench.queues.report import table
from bench.queues.runs import RunError
from bench.queues.systems import LIMITS
from bench.recorded import recorded
from bench.server import server

QUEUES = {
    **{case.name: (case.name,) for case in (*HOT_PATHS, ONE_BATCH, *BACKLOGS)},
    "grid": tuple(case.name for case in GRID),
}
OTHERS = (*others(1), *recorded(1))
NOTICED = "pipeline-noticed"
LONG = ("pipeline-year", "pipeline-executors")
SAVED = ("tick", NOTICED, REPORT, DAYS)


@click.command()
@options((*QUEUES, *OTHERS), LONG)
@click.option("--quick", is_flag=True, help="Use a tenth of the rows or of the time, except for queues.")
@click.option(
    "--save",
    is_flag=True,
    help="Publish the results in bench/results.json, except of cold starts and some cases of the pipeline.",
)
def main(
    cases: tuple[str, ...], rounds: int, jobs: int, workers: int, seed: int | None, quick: bool, save: bool
) -> None:
    """Measure minutehand against the limits of the same machine and Postgres, in interleaved rounds.

    A ratio above 1 means faster than the limit. The server is a new one, or that of DATABASE_URL, where databases
    named minutehand_bench... are replaced and removed. The pipeline's cases need `make setup/pipeline`.
    """
    measured_commit = commit() if save else ""
    chosen = tuple(case for name in cases if name in QUEUES for case in QUEUES[name])
    plan = Plan(chosen, LIMITS, rounds, jobs, workers, seeded(seed))
    with server() as url:
        try:
            measured = plan.measurements(plan.run(url), measured_commit)
        except RunError as error:
            raise click.ClickException(str(error)) from None
        if save:
            publish(measured, url)
        if measured:
            Console().print(table(measured, LIMITS))
        if save and "tick" in cases:
            publish_ticks(ticks(url, 10 if quick else 1), measured_commit)
        if save and NOTICED in cases:
            publish_archives(archives(url, 10 if quick else 1, measured_commit))
        if save and (REPORT in cases or DAYS in cases):
            load = round(os.getloadavg()[1], 1)
            publish_commands(commands(url, 10 if quick else 1, cases), measured_commit, load)
        for name, measure in others(10 if quick else 1).items():
            if name in cases and not (save and name in SAVED):
                SCREEN.print(f"{name} is running")
                Console(width=120).print(lines(measure(url)))
        for name, each in recorded(10 if quick else 1, measured_commit).items():
            if name in cases:
                SCREEN.print(f"{name} is running")
                record = each.measure(url)
                Console(width=120).print(lines(each.lines(record)))
                if save:
                    publish_record(each.field, record)


def lines(measured: Sequence[Measured]) -> Table:
    """Return the table of a benchmark that is not one of queues."""
    result = Table("what", "ours", "limit", "ratio", "target")
    for row in measured:
        result.add_row(row.what, row.ours, row.limit, row.ratio, row.aim)
    return result


if __name__ == "__main__":
    main(prog_name="python -m bench")
