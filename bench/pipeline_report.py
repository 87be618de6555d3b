"""Whole reports with their start-up, compared with the most expensive tables in DuckDB on the same files."""

import tempfile
from pathlib import Path

import duckdb

from bench import commands
from bench.measure import Measured, seconds
from bench.results import Command
from minutehand_pipeline.lake import Lake
from minutehand_pipeline.schemas import HOMES
from minutehand_pipeline.session import build_session
from tests.pipeline.report.recording import record

DAYS = 28
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
    """Measure lakes with these numbers of jobs in four weeks."""
    return [
        Measured(
            f"{name} / four tables in DuckDB" if line.reference else name,
            f"{line.seconds} s ({line.processor} s of CPU)",
            f"{line.reference} s" if line.reference else "",
            aim=f"{line.target} s" if line.target else "reported",
        )
        for name, line in reports(sizes).items()
    ]


def reports(sizes: tuple[int, ...]) -> dict[str, Command]:
    """Return what the first report of each size took, and one after it that reads nothing."""
    spark = build_session("minutehand bench", cores=2)
    lines = dict[str, Command]()
    for jobs in sizes:
        with tempfile.TemporaryDirectory() as folder:
            lake = Lake(f"{folder}/lake")
            record(spark, lake, jobs, DAYS)
            lines |= _measure(lake, jobs, Path(folder))
    spark.stop()
    return lines


def _measure(lake: Lake, jobs: int, folder: Path) -> dict[str, Command]:
    peer = min(seconds(lambda: _peer(lake)) for _ in range(2))
    report = ("report", lake.path, "--out", str(folder / "report"))
    first, again = commands.run(*report), commands.run(*report)
    return {
        f"report of {jobs:,} jobs": _command(first, round(peer, 1), AIMS.get(jobs)),
        f"report of {jobs:,} jobs, no new day": _command(again),
    }


def _command(used: commands.Used, reference: float | None = None, aim: float | None = None) -> Command:
    return Command(round(used.seconds, 1), round(used.processor, 1), reference, aim)


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
