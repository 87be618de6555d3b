"""Whole reports with their start-up, compared with the most expensive tables in DuckDB on the same files."""

import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from time import perf_counter, sleep

import duckdb
import psutil

from bench.measure import Measured, seconds
from minutehand_pipeline.lake import Lake
from minutehand_pipeline.schemas import HOMES
from minutehand_pipeline.session import build_session
from tests.pipeline.report.recording import record

DAYS = 28
# Seconds between two looks at the processor time of the processes.
SAMPLED = 0.1
# Seconds of a whole report on two idle cores, by the number of jobs.
AIMS = {20_000: 8, 2_000_000: 20}

# Four of the report's tables, which has more; DuckDB's percentiles are approximate, too.
PEER = """
create or replace temp table j as
select j.*, coalesce(f.begun, case when attempts = 1 then claimed end) as begun,
       greatest(0, epoch_us(begun) - epoch_us(run_at)) / 1e6 as waited
  from read_parquet({jobs}) j
  left join (select job, min(started) as begun from read_parquet({attempts})
              where attempt = 1 and outcome <> 'released' group by job) f on f.job = j.id;
create or replace temp table a as
select queue, kind, job, request, memory_mb,
       case when outcome not in ('lapsed', 'released') then greatest(0, epoch_us(ended) - epoch_us(started)) / 1e6 end
       as ran
  from read_parquet({attempts});
select date_trunc('hour', deleted), queue, kind, count(*), count_if(state = 'done'), count_if(state = 'dead')
  from j group by all;
select queue, kind, count(*), approx_quantile(waited, [.5, .9, .95, .99]), max(waited)
  from j group by rollup (queue, kind);
select queue, kind, count(*), approx_quantile(ran, [.5, .9, .95, .99]), max(ran) from a group by rollup (queue, kind);
select queue, kind, count(waited), count_if(waited > 60) from j group by rollup (queue, kind);
select kind, count(distinct job), sum(ceil(ran * 1000) * memory_mb), sum(1.0 / mates)
  from (select *, count(*) over (partition by request) as mates from a) group by kind;
"""


def measure(sizes: tuple[int, ...]) -> list[Measured]:
    """Measure lakes with these numbers of jobs in four weeks: the first report, and one after it that reads nothing."""
    spark = build_session("minutehand bench", cores=2)
    lines = []
    for jobs in sizes:
        with tempfile.TemporaryDirectory() as folder:
            lake = Lake(f"{folder}/lake")
            record(spark, lake, jobs, DAYS)
            lines += _measure(lake, jobs, Path(folder))
    spark.stop()
    return lines


def _measure(lake: Lake, jobs: int, folder: Path) -> list[Measured]:
    peer = min(seconds(lambda: _peer(lake)) for _ in range(2))
    first, again = _report(lake, folder), _report(lake, folder)
    aim = f"{AIMS[jobs]} s" if jobs in AIMS else "reported"
    limit = f"{peer:.1f} s"
    return [
        Measured(f"report of {jobs:,} jobs / four tables in DuckDB", _both(first), limit, aim=aim),
        Measured(f"report of {jobs:,} jobs, no new day", _both(again), aim="reported"),
    ]


def _report(lake: Lake, folder: Path) -> tuple[float, float]:
    """Run the command; return its seconds and the processor seconds of its processes, Java's among them."""
    command = [
        sys.executable,
        "-m",
        "minutehand_pipeline",
        "report",
        lake.path,
        "--out",
        str(folder / "report"),
    ]
    began, used = perf_counter(), dict[int, float]()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        process = psutil.Process(running.pid)
        # The system does not count Java's time for its parent, which does not wait for it.
        while running.poll() is None:
            with suppress(psutil.NoSuchProcess):
                for each in (process, *process.children(recursive=True)):
                    times = each.cpu_times()
                    used[each.pid] = times.user + times.system
            sleep(SAMPLED)
    if running.returncode:
        raise RuntimeError(f"the report failed with exit code {running.returncode}")
    return perf_counter() - began, sum(used.values())


def _both(times: tuple[float, float]) -> str:
    return f"{times[0]:.1f} s ({times[1]:.1f} s of CPU)"


def _peer(lake: Lake) -> None:
    files = {
        name: [str(Path(lake.table(HOMES[home]).uri, file.path)) for file in lake.table(HOMES[home]).files()]
        for name, home in (("jobs", "jobs_done"), ("attempts", "attempts"))
    }
    with duckdb.connect() as connection:
        connection.execute("set threads = 2")
        for statement in PEER.format(**files).split(";\n"):
            if statement.strip():
                connection.execute(statement).fetchall()
