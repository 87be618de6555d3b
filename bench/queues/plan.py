"""A measurement of queues: its options on the command line, and its run with a line for each turn."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from bench.queues.cases import CASES
from bench.queues.publish import measurement
from bench.queues.rounds import Runs, Turn, measure, turns
from bench.queues.runs import Run, run
from bench.queues.systems import System
from bench.results import Measurement

SCREEN = Console(stderr=True)


@dataclass(frozen=True)
class Plan:
    """What to measure, and how often."""

    cases: tuple[str, ...]
    systems: tuple[System, ...]
    rounds: int
    jobs: int
    workers: int
    seed: int

    def run(self, server: str) -> Runs:
        """Run all turns on a server."""
        order = turns([CASES[name] for name in self.cases], self.systems, self.rounds, self.seed)
        with _progress() as progress:
            task = progress.add_task("", total=len(order))

            def run_turn(turn: Turn) -> Run:
                progress.update(task, description=f"{turn.case.title}: {turn.system.title}")
                result = run(turn.system, turn.case, server, self.jobs, self.workers)
                progress.console.print(_line(turn, result), highlight=False, soft_wrap=True)
                progress.advance(task)
                return result

            return measure(order, run_turn)

    def measurements(self, runs: Runs, commit: str) -> dict[str, Measurement]:
        """Return the results of the cases, to be published."""
        loads = {name: CASES[name].load(self.jobs, self.workers) for name in runs}
        return {name: measurement(runs[name], commit, loads[name]) for name in runs}


class Names(click.ParamType[tuple[str, ...]]):
    """Names separated by commas."""

    name = "names"

    def __init__(self, known: Sequence[str]) -> None:
        self.known = known

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        """Return the names; fail for an unknown one."""
        given = tuple(value.split(",")) if isinstance(value, str) else tuple(value)
        if unknown := [name for name in given if name not in self.known]:
            self.fail(f"must be of {', '.join(self.known)}, got {', '.join(unknown)}", param, ctx)
        return given


Command = Callable[..., None]


def options(cases: Sequence[str], long: Sequence[str] = ()) -> Callable[[Command], Command]:
    """Add the options that all measurements of queues have. Cases that take long run only if they are named."""
    count = click.IntRange(min=1)
    usual = ",".join(name for name in cases if name not in long)
    also = f"Also {', '.join(long)}, which takes hours." if long else None
    added = [
        click.option("--cases", type=Names(cases), default=usual, show_default=True, help=also),
        click.option(
            "--rounds", type=count, default=3, show_default=True, help="Runs of each case and system."
        ),
        click.option(
            "--jobs",
            type=count,
            default=5000,
            show_default=True,
            help="Jobs of a case; cases of bulk have more, so that they last long enough.",
        ),
        click.option(
            "--workers", type=count, default=4, show_default=True, help="Workers that share the jobs."
        ),
        click.option("--seed", type=int, default=None, help="Repeats the random order of another run."),
    ]

    def decorate(command: Command) -> Command:
        for option in reversed(added):
            command = option(command)
        return command

    return decorate


def seeded(seed: int | None) -> int:
    """Return the seed, or a new one."""
    return random.randrange(1_000_000) if seed is None else seed


def _progress() -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=SCREEN, transient=True)


def _line(turn: Turn, run: Run) -> str:
    return f"round {turn.round}  {turn.case.title:24}{turn.system.title:30}{run.rate:>12,.0f} jobs/s"
