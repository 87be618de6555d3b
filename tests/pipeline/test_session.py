"""The Spark session uses UTC, whatever the machine's zone is, and has room for the code of many queries."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from minutehand.database import connect
from tests.pipeline.history import fill_history
from tests.pipeline.running import SECONDS
from tests.servers import Database


def test_day_is_utc_in_any_time_zone(spark: SparkSession) -> None:
    row = (
        spark.sql("select timestamp'2026-03-31 23:59:59.999999Z' as at")
        .select(F.to_date("at").cast("string"))
        .first()
    )

    assert row is not None
    assert row[0] == "2026-03-31"


def test_session_has_room_for_the_code_of_many_queries(spark: SparkSession) -> None:
    """Java fails for lack of it after some hundred reports: Out of space in CodeCache for adapters."""
    java = spark.sparkContext._jvm
    assert java is not None
    pools = java.java.lang.management.ManagementFactory.getMemoryPoolMXBeans()

    room = sum(pool.getUsage().getMax() for pool in pools if "Code" in pool.getName())
    assert room >= 200 << 20


def test_history_fills_the_partitions_of_its_days(direct_database: Database) -> None:
    with connect(direct_database.url) as connection:
        days = fill_history(connection, 100, days=2)
        counts = connection.execute(
            """
            select (select count(*) from minutehand.jobs_done_20260330),
                   (select count(*) from minutehand.jobs_done_20260331),
                   (select count(*) from minutehand.jobs_done_default),
                   (select count(*) from minutehand.attempts), (select count(*) from minutehand.events)
            """
        ).fetchone()

    assert len(days) == 2
    assert counts == (50, 50, 0, 120, 100)


PRIORITIES = """
import os
from pathlib import Path
from minutehand_pipeline.session import build_session
session = build_session("background", cores=1, in_background=True)
java = session.sparkContext._gateway.proc
threads = {os.getpriority(os.PRIO_PROCESS, int(path.name)) for path in Path(f"/proc/{java.pid}/task").iterdir()}
print(threads, Path(f"/proc/{java.pid}/autogroup").read_text().split()[-1])
java.stdin.close()
java.wait()
"""


def test_session_in_the_background_has_a_lower_priority() -> None:
    """All of Java's threads, whose processes inherit it, and as a session, since the kernel compares those first."""
    if not Path("/proc/self/autogroup").exists():
        pytest.skip("the kernel has no autogroups")

    done = subprocess.run([sys.executable, "-c", PRIORITIES], text=True, capture_output=True, timeout=SECONDS)

    assert done.stdout.strip() == f"{{{max(10, os.nice(0))}}} 10", done.stderr
