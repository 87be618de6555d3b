"""The benchmarks that print lines and can be published, each in a field of the results."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from bench import further, groups, pipeline_executors, pipeline_year, prompt_load
from bench.measure import Measured
from bench.others import alone
from bench.server import migrated


@dataclass(frozen=True)
class Recorded:
    """A benchmark: the field of its result, how it is measured on a server, and the lines of its result."""

    field: str
    measure: Callable[[str], Any]
    lines: Callable[[Any], Sequence[Measured]]


def recorded(scale: int, commit: str = "") -> dict[str, Recorded]:
    """Return the benchmarks by name. Sizes and times are divided by `scale`."""
    minutes, duration = max(1, further.MINUTES // scale), prompt_load.DURATION / scale
    return {
        "groups": Recorded(
            "offers", lambda server: groups.measure(server, groups.GROUPS // scale, commit), groups.lines
        ),
        "further-jobs": Recorded(
            "further",
            lambda server: further.measure(server, further.SECONDS, minutes, commit),
            further.lines,
        ),
        "pipeline-year": Recorded(
            "year",
            lambda server: alone("pipeline_year", migrated(server), *_year(scale), commit),
            pipeline_year.lines,
        ),
        "pipeline-executors": Recorded(
            "executors",
            lambda server: pipeline_executors.measure(
                migrated(server), pipeline_executors.JOBS // scale, commit=commit
            ),
            pipeline_executors.lines,
        ),
        # In a process of its own, because it changes the environment.
        "prompt-load": Recorded(
            "waits",
            lambda server: alone("prompt_load", server, duration, prompt_load.SECONDS, commit),
            prompt_load.lines,
        ),
    }


def _year(scale: int) -> tuple[int, int]:
    """Return the number of jobs and of days."""
    return pipeline_year.JOBS // scale, max(2, pipeline_year.DAYS // scale)
