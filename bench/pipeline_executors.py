"""Archives and reports on a Spark cluster with 1, 2 and 4 executors of one core each, all on this machine."""

import os
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import psycopg

from bench.measure import Measured
from bench.queues.plan import SCREEN
from bench.results import Executors
from tests.pipeline.history import LAST, fill_history

if TYPE_CHECKING:
    from tests.cluster.standalone import Cluster

EXECUTORS, JOBS = (1, 2, 4), 1_000_000
MOST_SECONDS = 3600.0
MAIN = Path(__file__).parents[1] / "pipeline" / "main.py"
DAYS = ("--since", LAST.isoformat(), "--until", LAST.isoformat())


def measure(url: str, jobs: int, executors: tuple[int, ...] = EXECUTORS, commit: str = "") -> Executors:
    """Archive a day of finished jobs and their attempts, and report on it, with each number of executors."""
    with psycopg.connect(url, autocommit=True) as connection:
        fill_history(connection, jobs)
        connection.execute("vacuum analyze minutehand.jobs_done")
        connection.execute("vacuum analyze minutehand.attempts")
        counted = connection.execute(
            "select (select count(*) from minutehand.attempts) + (select count(*) from minutehand.events)"
        ).fetchone()
    assert counted is not None
    seconds = {}
    for count in executors:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("truncate minutehand.archive_batches, minutehand.archived_days")
        with tempfile.TemporaryDirectory(prefix="minutehand-bench-") as folder:
            seconds[str(count)] = _on_cluster(url, Path(folder), count)
    return Executors(commit, jobs, jobs + counted[0], seconds)


def _on_cluster(url: str, folder: Path, count: int) -> list[float]:
    """Return the seconds of an archive and of a report on a cluster with this number of executors."""
    # Imported here, because Spark need not be installed for other cases.
    from minutehand_pipeline.java import ensure_java
    from tests.cluster.standalone import SPARK, Cluster

    ensure_java()
    environment = {
        **os.environ,
        "DATABASE_URL": url,
        "SPARK_HOME": str(SPARK),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_HOSTNAME": "localhost",
        "SPARK_LOCAL_DIRS": str(folder / "scratch"),
    }
    cluster = Cluster(folder, environment, size=count)
    lake = str(folder / "lake")
    try:
        cluster.start()
        return [
            _took(cluster, count, "archive", lake, *DAYS, "--readers", str(count)),
            _took(cluster, count, "report", lake, *DAYS, "--out", str(folder / "report")),
        ]
    finally:
        cluster.stop()


def _took(cluster: "Cluster", count: int, *words: str) -> float:
    """Run a command on the cluster; return how many seconds it took, with the start of the driver and executors."""
    began = perf_counter()
    submitted = cluster.submit(*words, main=MAIN, cwd=cluster.home, python=sys.executable)
    try:
        submitted.result(MOST_SECONDS)
    finally:
        submitted.end()
    took = round(perf_counter() - began, 1)
    SCREEN.print(f"{words[0]} with {count} executors: {took} s")
    return took


def lines(measured: Executors) -> list[Measured]:
    """Return a line for each number of executors."""
    return [
        Measured(
            f"{measured.jobs:,} jobs, executors: {count}",
            f"archive {archive:.0f} s, report {report:.0f} s",
            aim="reported",
        )
        for count, (archive, report) in measured.seconds.items()
    ]
