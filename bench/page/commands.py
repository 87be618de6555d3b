"""The part of the page on the pipeline's commands: their times, missed targets, and the effect of more rows."""

import re
from collections.abc import Mapping
from itertools import pairwise

from bench.page.tables import command_table
from bench.results import Command, Commands, Results

JOBS = re.compile(r"report of ([\d,]+) jobs")


class ReasonError(Exception):
    """A case that is lost, or a missed target, has no explanation."""


def command_runs(results: Results, reasons: Mapping[str, str]) -> str:
    """Return the table of the pipeline's commands, and how it was measured.

    Raise ReasonError if a command misses its target without a reason.
    """
    commands = results.commands
    if not commands.lines:
        return "No results are published yet."
    parts = (
        command_table(results),
        _measured(commands),
        growth(commands.lines),
        missed(commands.lines, reasons),
    )
    return "\n\n".join(part for part in parts if part)


def growth(lines: Mapping[str, Command]) -> str:
    """Return how the processor time of reports grows with the jobs, or nothing if one size was measured."""
    sizes = {
        int(found[1].replace(",", "")): line
        for name, line in lines.items()
        if (found := JOBS.fullmatch(name))
    }
    ordered = sorted(sizes)
    ratios = [
        f"{more / less:g} times the jobs took {sizes[more].processor / sizes[less].processor:.1f} times the processor "
        f"time (from {less:,} to {more:,})"
        for less, more in pairwise(ordered)
    ]
    return f"{'; '.join(ratios)}. The target is at most 2.2 times for twice the jobs." if ratios else ""


def missed(lines: Mapping[str, Command], reasons: Mapping[str, str]) -> str:
    """Return the commands that took longer than their target, each with the reason."""
    slow = {name: line for name, line in lines.items() if line.target and line.seconds > line.target}
    if unexplained := slow.keys() - reasons.keys():
        raise ReasonError(f"reasons.toml must explain commands.{min(unexplained)!r}, which misses its target")
    return "\n".join(
        f"- **{name}** misses its target of {line.target:.0f} s. {reasons[name]}"
        for name, line in slow.items()
    )


def _measured(commands: Commands) -> str:
    return (
        f"The processor time adds up all processes. The average load of the two cores was {commands.load:.1f} at the "
        f"end, with that of these commands. The measured commit is of {commands.commit}."
    )
