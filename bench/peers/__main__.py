"""Measure minutehand, its limits and its peers on one server: python -m bench.peers."""

import click
from rich.console import Console

from bench.machine import commit
from bench.peers.environment import InstallError, install
from bench.peers.systems import PEERS, PGMQ, pgmq_sql
from bench.queues.cases import BACKLOGS
from bench.queues.plan import SCREEN, Names, Plan, options, seeded
from bench.queues.publish import publish
from bench.queues.report import table
from bench.queues.runs import RunError
from bench.queues.systems import LIMITS, System
from bench.server import server

SYSTEMS = {system.name: system for system in (*LIMITS, *PEERS)}


@click.command()
@options(("one", "batch", "bulk", *(case.name for case in BACKLOGS)))
@click.option("--systems", type=Names(tuple(SYSTEMS)), default=",".join(SYSTEMS), show_default=True)
@click.option("--save", is_flag=True, help="Publish the results in bench/results.json.")
def main(
    cases: tuple[str, ...],
    rounds: int,
    jobs: int,
    workers: int,
    seed: int | None,
    systems: tuple[str, ...],
    save: bool,
) -> None:
    """Measure job queues in Postgres with jobs that do nothing.

    Installs the peers, in the versions of bench/peers/, into .venv/peers. The server is a new one, or that of
    DATABASE_URL, where databases named minutehand_bench... are replaced and removed. pgmq is measured if PGMQ_SQL is
    the path of its file pgmq.sql.
    """
    measured_commit = commit() if save else ""
    try:
        chosen = available(tuple(SYSTEMS[name] for name in systems))
        if any(system in PEERS for system in chosen):
            install(SCREEN.print)
        plan = Plan(cases, chosen, rounds, jobs, workers, seeded(seed))
        with server() as url:
            measured = plan.measurements(plan.run(url), measured_commit)
            if save:
                publish(measured, url)
    except (InstallError, RunError, FileNotFoundError) as error:
        raise click.ClickException(str(error)) from None
    Console().print(table(measured, chosen))


def available(systems: tuple[System, ...]) -> tuple[System, ...]:
    """Return the systems without pgmq if its file is not given."""
    if PGMQ not in systems or pgmq_sql():
        return systems
    SCREEN.print("pgmq is skipped: set PGMQ_SQL to the path of pgmq-extension/sql/pgmq.sql of its repository")
    return tuple(system for system in systems if system is not PGMQ)


if __name__ == "__main__":
    main(prog_name="python -m bench.peers")
