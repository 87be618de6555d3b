"""Archive many small days: the command with its start-up."""

import os
import tempfile

from bench import commands
from bench.measure import Measured
from bench.results import Command
from minutehand.database import connect
from tests.pipeline.history import fill_history

DAYS = 20
# Seconds of the command when each day was copied by itself.
BEFORE = 95


def measure(url: str, jobs: int) -> list[Measured]:
    """Measure an archive of small days that have this number of jobs, each with its attempts and events."""
    return [
        Measured(name, f"{line.seconds} s ({line.processor} s of CPU)", aim=f"{BEFORE} s before")
        for name, line in archived(url, jobs).items()
    ]


def archived(url: str, jobs: int) -> dict[str, Command]:
    """Return what an archive of small days took, after an archive of one day, which writes what Java shares."""
    os.environ["DATABASE_URL"] = url
    with connect(url) as connection, tempfile.TemporaryDirectory() as folder:
        [*_, last] = fill_history(connection, jobs, DAYS)
        arguments = ("archive", "--wait", "1m", f"{folder}/lake")
        commands.run(*arguments, "--since", last.isoformat())
        used = commands.run(*arguments)
    name = f"archive of {DAYS - 1} small days, {jobs:,} jobs with attempts and events"
    return {name: Command(round(used.seconds, 1), round(used.processor, 1))}
