"""The most expensive tables of a report in Spark, compared with DuckDB on the same files."""

import tempfile
from pathlib import Path

import duckdb
from pyspark.sql import DataFrame, SparkSession

from bench.measure import Measured, seconds
from minutehand_pipeline.lake import Lake
from minutehand_pipeline.prices import LIST
from minutehand_pipeline.report.config import ReportConfig
from minutehand_pipeline.report.cost import billed, costs
from minutehand_pipeline.report.durations import durations
from minutehand_pipeline.report.lateness import lateness
from minutehand_pipeline.report.measured import with_later_start, with_wait
from minutehand_pipeline.report.report import make_report
from minutehand_pipeline.report.throughput import by_hour
from minutehand_pipeline.report.window import choose_window, read_attempts, read_jobs
from minutehand_pipeline.schemas import HOMES
from minutehand_pipeline.session import build_session
from tests.pipeline.report.recording import record

DAYS = 28

# The same four tables; DuckDB's percentiles are approximate, too.
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
    """Measure lakes with these numbers of jobs in four weeks; the last line is the complete report of the largest."""
    spark = build_session("minutehand bench", cores=2)
    return [line for jobs in sizes for line in _measure(spark, jobs, whole=jobs == sizes[-1])]


def _measure(spark: SparkSession, jobs: int, whole: bool) -> list[Measured]:
    with tempfile.TemporaryDirectory() as folder:
        lake = Lake(folder)
        record(spark, lake, jobs, DAYS)
        files = {
            name: [
                str(Path(lake.table(HOMES[home]).uri, file.path)) for file in lake.table(HOMES[home]).files()
            ]
            for name, home in (("jobs", "jobs_done"), ("attempts", "attempts"))
        }
        config = ReportConfig(lake=folder)
        # Warm up: Spark compiles code once.
        _tables(spark, config)
        ours = min(seconds(lambda: _tables(spark, config)) for _ in range(2))
        peer = min(seconds(lambda: _peer(files)) for _ in range(2))
        lines = [
            Measured(
                f"report: four tables of {jobs:,} jobs / DuckDB",
                f"{ours:.1f} s",
                f"{peer:.1f} s",
                f"{peer / ours:.2f}",
            )
        ]
        if whole:
            took = seconds(lambda: make_report(spark, ReportConfig(lake=folder, out=Path(folder, "report"))))
            lines.append(Measured(f"report: complete, of {jobs:,} jobs", f"{took:.1f} s", aim="reported"))
        return lines


def _tables(spark: SparkSession, config: ReportConfig) -> None:
    window = choose_window(config)
    attempts = read_attempts(spark, config, window).persist()
    first = read_jobs(spark, config, window, attempts)
    jobs = with_wait(with_later_start(first, attempts)).persist()
    frames: tuple[DataFrame, ...] = (
        by_hour(jobs),
        durations(jobs, attempts),
        lateness(jobs, config.objective, config.target),
        costs(billed(attempts, LIST, config.architecture)),
    )
    for frame in frames:
        frame.toArrow()
    jobs.unpersist()
    attempts.unpersist()


def _peer(files: dict[str, list[str]]) -> None:
    with duckdb.connect() as connection:
        connection.execute("set threads = 2")
        for statement in PEER.format(**files).split(";\n"):
            if statement.strip():
                connection.execute(statement).fetchall()
