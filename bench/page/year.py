"""The sections about the jobs of a year, with the memory of each command, and about the executors of a cluster."""

from collections.abc import Mapping

from bench.page.dispatching import NOTHING, explain_missed, joined, measured_commit
from bench.page.tables import markdown
from bench.page.targets import MEMORY_MOST
from bench.results import Executors, Year

# Up to this load, the measured commands alone keep two cores busy.
ALONE = 3.0
HEAD = ("", "time", "processor time", "memory", "of it Java")


def year_runs(year: Year, reasons: Mapping[str, str]) -> str:
    """Return the table of the commands, and how they were measured.

    Raise ReasonError if a command needs more memory than the target without a reason.
    """
    if not year.steps:
        return NOTHING
    rows = (
        (
            name,
            f"{step.seconds:,.0f} s",
            f"{step.processor:,.0f} s",
            f"{step.memory:,} MB",
            f"{step.java:,} MB" if step.java else "",
        )
        for name, step in year.steps.items()
    )
    missed = {name: f"{step.memory:,} MB" for name, step in year.steps.items() if step.memory > MEMORY_MOST}
    return joined(
        f"{year.jobs:,} finished jobs and {year.attempts:,} attempts of {year.days} days and {year.tenants:,} tenants. "
        f"The lake has {year.lake:,} MB.",
        markdown(HEAD, rows),
        explain_missed(missed, f"{MEMORY_MOST:,} MB", reasons),
        f"{_load(year)} {measured_commit(year.commit)}",
    )


def executor_runs(executors: Executors) -> str:
    """Return the table of commands by the number of executors, and how they were measured."""
    if not executors.seconds:
        return NOTHING
    rows = (
        (
            count,
            f"{archive:,.0f} s",
            f"{executors.rows / archive:,.0f}",
            f"{report:,.0f} s",
            f"{executors.jobs / report:,.0f}",
        )
        for count, (archive, report) in executors.seconds.items()
    )
    return joined(
        f"{executors.jobs:,} finished jobs of a day, {executors.rows:,} rows with their attempts and events.",
        markdown(("executors", "archive", "rows/s", "report", "jobs/s"), rows),
        measured_commit(executors.commit),
    )


def _load(year: Year) -> str:
    others = (
        "so the times are longer than on an idle machine"
        if year.load > ALONE
        else "mostly from these commands"
    )
    return f"The load of the machine at the end was {year.load:.1f}, {others}."
