"""Archive a day, then one with twice the rows: rows per second, and growth."""

import os
import tempfile
from datetime import timedelta

from bench.measure import Measured, seconds
from bench.memory import memory_lines, peak_memory
from minutehand.database import connect
from minutehand_pipeline.archive.archive import ArchiveConfig, archive
from minutehand_pipeline.lake import Lake
from minutehand_pipeline.session import build_session
from tests.pipeline.history import fill_history

HOME = ("jobs_done",)


def measure(url: str, jobs: int) -> list[Measured]:
    """Measure a day of `jobs` finished jobs, then one of twice as many, after a warm-up."""
    # Spark's tasks run in other processes and inherit the environment.
    os.environ["DATABASE_URL"] = url
    spark = build_session("minutehand bench", cores=2)

    def archive_day(rows: int) -> float:
        with connect(url) as connection, tempfile.TemporaryDirectory() as folder:
            connection.execute("truncate minutehand.jobs, minutehand.attempts, minutehand.events")
            connection.execute("truncate minutehand.archive_batches, minutehand.archived_days")
            [day] = fill_history(connection, rows, alone=True)
            connection.execute("vacuum analyze minutehand.jobs_done")
            config = ArchiveConfig(
                lake=Lake(folder), homes=HOME, since=day, until=day, wait=timedelta(minutes=1)
            )
            return seconds(lambda: archive(spark, config))

    archive_day(jobs // 100)
    with peak_memory() as of_one:
        one = archive_day(jobs)
    with peak_memory() as of_two:
        two = archive_day(2 * jobs)
    return [
        Measured(
            f"archive {jobs:,} rows, read, written, compared, committed",
            f"{jobs / one:,.0f} rows/s",
            ratio=f"{two / one:.2f}",
            aim="<= 2.2 for twice the rows",
        ),
        *memory_lines(of_one),
        *memory_lines(of_two, aim="the same for twice the rows"),
    ]
