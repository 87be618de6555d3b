"""The benchmarks that do not compare queues: ticks, cold starts and the pipeline, which is imported when it runs."""

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from multiprocessing import get_context
from typing import Any

from bench import tick
from bench.measure import Measured
from bench.results import Archives, Command
from bench.server import migrated
from bench.tick import Cost

# The sizes that are measured, by the name of the module in this package.
SIZES: dict[str, tuple[int, ...]] = {
    "pipeline_source": (1_000_000,),
    "pipeline_load": (1_000_000,),
    "pipeline_archive": (2_500_000,),
    "pipeline_noticed": (400_000,),
    "pipeline_days": (4_000,),
}
REPORT, DAYS = "pipeline-report", "pipeline-days"
REPORTS = (20_000, 1_000_000, 2_000_000)
ATTEMPTS = 10_000_000


def others(scale: int) -> dict[str, Callable[[str], list[Measured]]]:
    """Return the measurements by name; each takes the address of a server. Sizes are divided by `scale`."""
    pipeline = {name.replace("_", "-"): _on_database(name, size // scale) for name, (size,) in SIZES.items()}
    return {
        "tick": lambda server: tick.lines(ticks(server, scale)),
        "cold-start": lambda server: _measure("cold_start"),
        **pipeline,
        REPORT: lambda server: alone("pipeline_report", tuple(n // scale for n in REPORTS)),
        "pipeline-simulate": lambda server: alone("pipeline_simulate", ATTEMPTS // scale),
    }


def ticks(server: str, scale: int) -> list[Cost]:
    """Return the costs of ticks."""
    return list(tick.costs(migrated(server), tuple(backlog // scale for backlog in tick.BACKLOGS)))


def archives(server: str, scale: int, commit: str) -> Archives:
    """Return the runs of archives next to a busy worker: with Spark on the same cores, then on another one."""
    (size,) = SIZES["pipeline_noticed"]
    found = Archives(commit, size // scale)
    for function in ("archives", "archives_apart"):
        runs: Archives = alone("pipeline_noticed", migrated(server), size // scale, commit, function=function)
        found.rates.update(runs.rates)
        found.offers.update(runs.offers)
        found.claims.update(runs.claims)
    return found


def commands(server: str, scale: int, cases: Sequence[str]) -> dict[str, Command]:
    """Return the measurements of commands of the pipeline, of those cases."""
    found: dict[str, Command] = {}
    if REPORT in cases:
        found |= alone("pipeline_report", tuple(n // scale for n in REPORTS), function="reports")
    if DAYS in cases:
        (size,) = SIZES["pipeline_days"]
        found |= alone("pipeline_days", migrated(server), size // scale, function="archived")
    return found


def _on_database(name: str, size: int) -> Callable[[str], list[Measured]]:
    return lambda server: alone(name, migrated(server), size)


def _measure(name: str, *arguments: object, function: str = "measure") -> Any:
    return getattr(import_module(f"bench.{name}"), function)(*arguments)


def alone(name: str, *arguments: object, function: str = "measure") -> Any:
    """Measure in a separate process, because a process has one Spark session with fixed cores and memory."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(_measure, name, *arguments, function=function).result()
