"""Save measurements of queues in bench/results.json."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from bench import results
from bench.machine import machine, versions
from bench.queues.clients.program import Load
from bench.queues.runs import Run
from bench.results import (
    Archives,
    Command,
    Commands,
    Executors,
    Further,
    Measurement,
    Offers,
    Steady,
    Ticks,
    Waits,
    Year,
)
from bench.tick import Cost

COSTS = ("client", "server", "wal")


def measurement(runs: Mapping[str, Sequence[Run]], commit: str, load: Load) -> Measurement:
    """Return the result of a case."""
    return Measurement(
        commit=commit,
        jobs=load.jobs,
        workers=load.workers,
        rates={name: [round(run.rate, 1) for run in each] for name, each in runs.items()},
        costs={name: {cost: _median(each, cost) for cost in COSTS} for name, each in runs.items()},
    )


def publish(measured: Mapping[str, Measurement], url: str) -> None:
    """Replace the results of these cases, the machine and the versions."""
    old = results.load()
    results.save(replace(old, machine=machine(), versions=versions(url), cases={**old.cases, **measured}))


def publish_ticks(costs: Sequence[Cost], commit: str) -> None:
    """Replace the costs of ticks."""
    milliseconds: dict[str, dict[str, float]] = {}
    offers: dict[str, dict[str, float]] = {}
    for cost in costs:
        milliseconds.setdefault(cost.case, {})[str(cost.due)] = round(cost.tick_ms, 2)
        offers.setdefault(cost.case, {})[str(cost.due)] = round(cost.offer_ms, 2)
    results.save(replace(results.load(), ticks=Ticks(commit, milliseconds, offers)))


def publish_archives(measured: Archives) -> None:
    """Replace the runs of archives."""
    results.save(replace(results.load(), archives=measured))


def publish_commands(lines: Mapping[str, Command], commit: str, load: float) -> None:
    """Replace the measurements of these commands of the pipeline."""
    old = results.load()
    commands = Commands(commit, load, {**old.commands.lines, **lines})
    results.save(replace(old, commands=commands))


def publish_snapshots(title: str, measured: Steady) -> None:
    """Replace the runs of a system with an old snapshot."""
    old = results.load()
    results.save(replace(old, snapshots={**old.snapshots, title: measured}))


def publish_record(
    field: str, record: Offers | Further | Waits | Year | Executors, file: Path = results.FILE
) -> None:
    """Replace the result in a field of the results."""
    changed: dict[str, Any] = {field: record}
    results.save(replace(results.load(file), **changed), file)


def _median(runs: Sequence[Run], cost: str) -> float | None:
    values = [value for run in runs if (value := getattr(run, cost)) is not None]
    return round(median(values), 1) if values else None
