"""Measure days of the lake with Spark: what a report needs of each day, so that days can be added."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import date, timedelta

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from minutehand_pipeline.lake import Lake
from minutehand_pipeline.lake.frames import read_files
from minutehand_pipeline.lake.summaries import LOOK_BACK
from minutehand_pipeline.report import arrivals, cost, counting, failures, tenants
from minutehand_pipeline.report.config import ReportConfig
from minutehand_pipeline.report.measured import (
    first_starts,
    measured_attempts,
    named_jobs,
    repeated,
    with_claim,
    with_wait,
)
from minutehand_pipeline.schemas import HOMES

# Queries that run at the same time, because the driver plans one while the tasks of another run.
AT_ONCE = 3
PARTITIONS = "spark.sql.shuffle.partitions"
# A partition of this many jobs and attempts takes about 100 MB.
ROWS_PER_PARTITION = 500_000
# Up to this number of rows, one task computes a query faster than several that exchange rows.
ROWS_PER_TASK = 200_000
# Rows of a job's id that every task may hold in memory: about 100 MB.
MAX_BROADCAST = 1_000_000

_COUNTS = ("jobs", "done", "dead", "expired", "cancelled", "counted", "late", "tried", "retried", "most")
_WORK = (
    "attempts",
    "retries",
    "lapsed",
    "snoozes",
    "released",
    "on_lambda",
    "ended_jobs",
    "tries",
    "with_memory",
)
_DAY = [("day", pa.date32())]
_NAMES = [("queue", pa.string()), ("kind", pa.string())]
_TIME = pa.timestamp("us", "UTC")


def _all(kind: pa.DataType, *names: str) -> list[tuple[str, pa.DataType]]:
    return [(name, kind) for name in names]


# The parts of a day's summary and their columns. A change of their meaning needs a new VERSION.
VERSION = 1
PARTS = {
    "ended": pa.schema([*_DAY, ("hour", _TIME), *_NAMES, *_all(pa.int64(), *_COUNTS)]),
    "histograms": pa.schema(
        [*_DAY, ("what", pa.string()), *_NAMES, *_all(pa.int64(), "bucket", "count"), ("most", pa.float64())]
    ),
    "work": pa.schema(
        [
            *_DAY,
            *_NAMES,
            *_all(pa.int64(), *_WORK),
            *_all(pa.float64(), "billed_ms", "gb_seconds", "ran", "memory"),
        ]
    ),
    "requests": pa.schema([*_DAY, *_NAMES, ("requests", pa.float64())]),
    "arrivals": pa.schema(
        [*_DAY, ("minute", _TIME), ("jobs", pa.int64()), *_all(pa.float64(), "work", "attempts")]
    ),
    "tenants": pa.schema(
        [
            *_DAY,
            ("tenant", pa.string()),
            ("jobs", pa.int64()),
            *_all(pa.float64(), "ran", "waited", "others_waited"),
        ]
    ),
    "failures": pa.schema(
        [
            *_DAY,
            *_all(pa.string(), "fingerprint", "type", "message", "example"),
            *_all(pa.int64(), "deaths", "attempts"),
            *_all(_TIME, "first", "last"),
            ("kinds", pa.list_(pa.string())),
        ]
    ),
}


def measure_days(
    spark: SparkSession, config: ReportConfig, days: Sequence[date], rows: int
) -> dict[date, dict[str, pa.Table]]:
    """Return the parts of days. `rows` is how many jobs and attempts they have, which decides the partitions.

    Files of an object store are read once; of many rows in local files, each query reads the columns that it needs. Of
    the days before, ids and times of attempts are read, if there are jobs whose first attempt may have been then.
    """
    with _partitions_for(spark, rows), _measured(spark, config, days, rows) as measured:
        found = measure_parts(spark, *measured, config.objective)
    return {day: {name: table.filter(_is(table, day)) for name, table in found.items()} for day in days}


def measure_parts(
    spark: SparkSession, ended: DataFrame, jobs: DataFrame, attempts: DataFrame, objective: float
) -> dict[str, pa.Table]:
    """Return the parts of measured jobs and attempts, with exactly their columns.

    `ended` are the same jobs, and may lack their waits, which the errors do not need. The parts are aggregates, so they
    have few rows. Some queries run at the same time.
    """
    with ThreadPoolExecutor(AT_ONCE) as pool:

        def start(build: Callable[[], DataFrame]) -> Future[pa.Table]:
            return pool.submit(lambda: build().toArrow())

        by_job = start(lambda: counting.count_jobs(jobs, objective))
        by_attempt = start(lambda: counting.count_attempts(attempts))
        others = start(lambda: tenants.attribute_waiting(jobs, attempts))
        failed = start(lambda: failures.failures_by_day(ended, attempts))
        requests = start(lambda: cost.requests(attempts))
        of_jobs = counting.by_grouping(by_job.result(), counting.JOBS)
        of_attempts = counting.by_grouping(by_attempt.result(), counting.ATTEMPTS)
        means = arrivals.work_per_job(of_jobs["ended"], of_attempts["work"])
        minutes = start(lambda: arrivals.arrivals_by_minute(jobs, spark.createDataFrame(means)))
        found = {
            "ended": of_jobs["ended"],
            "histograms": counting.histograms(of_jobs["histograms"], of_attempts["histograms"]),
            "work": of_attempts["work"],
            "requests": requests.result(),
            "arrivals": minutes.result(),
            "tenants": tenants.tenants_by_day(of_jobs["tenants"], of_attempts["tenants"], others.result()),
            "failures": failed.result(),
        }
    return {name: found[name].select(schema.names).cast(schema) for name, schema in PARTS.items()}


@dataclass(frozen=True)
class _Caching:
    """Which frames are cached and how they are divided, by the number of rows and the place of the lake.

    Of few rows, each query is one task, which reads a cache. Of many rows, to write that cache takes longer than to
    read the files for each query, which needs some columns only, so only the rare rows are cached: repeated jobs, and
    those whose first start is sought. Of very many, they are counted to choose a plan.
    """

    rows: int
    local: bool
    kept: ExitStack

    @property
    def few(self) -> bool:
        """The files of an object store are read by several tasks, which wait at the same time."""
        return self.rows <= ROWS_PER_TASK and self.local

    @property
    def cached(self) -> bool:
        """The files of an object store are read once only."""
        return self.few or not self.local

    def keep(self, frame: DataFrame) -> DataFrame:
        """Cache a frame until the end."""
        self.kept.callback(frame.unpersist)
        return frame.persist()

    def read_once(self, frame: DataFrame) -> DataFrame:
        """Cache all rows, if that is faster than to read them again."""
        return self.keep(frame) if self.cached else frame

    def rare(self, frame: DataFrame) -> DataFrame:
        """Let each task hold the rows in memory, if they are few enough."""
        if self.rows <= MAX_BROADCAST:
            return F.broadcast(frame if self.cached else self.keep(frame))
        return F.broadcast(frame) if self.keep(frame).count() <= MAX_BROADCAST else frame

    def whole(self, frame: DataFrame) -> DataFrame:
        """Leave few rows to one task."""
        return frame.coalesce(1) if self.few else frame


@contextmanager
def _measured(
    spark: SparkSession, config: ReportConfig, days: Sequence[date], rows: int
) -> Iterator[tuple[DataFrame, DataFrame, DataFrame]]:
    """Yield the jobs, the jobs with their waits, and the attempts with their run times."""
    with ExitStack() as kept:
        frames = _Caching(rows, Lake(config.lake, config.storage).local, kept)
        read_once, rare, whole = frames.read_once, frames.rare, frames.whole
        attempts = read_once(measured_attempts(whole(_read(spark, config, "attempts", days))))
        jobs = named_jobs(whole(_read(spark, config, "jobs_done", days)))
        marked = read_once(with_claim(jobs, rare(repeated(attempts))))
        sought = rare(marked.where("sought").select("id", "day", "run_at", "attempts"))
        near = attempts.select("job", "day", "attempt", "started", "outcome")
        # Of few rows, more are read than may be necessary: to find out takes longer.
        if rows <= MAX_BROADCAST or _may_have_started_before(sought):
            near = whole(near.unionByName(_before(spark, config, days).select(*near.columns)))
        waited = read_once(with_wait(marked, rare(first_starts(sought, near))))
        yield waited if frames.cached else jobs, waited, attempts


def _may_have_started_before(sought: DataFrame) -> bool:
    """Whether the first of several attempts may have been days before; the job may have been moved to its day later."""
    before = (F.to_date("run_at") < F.col("day")) | (F.col("attempts") > 1)
    return sought.where(before).limit(1).count() > 0


def _before(spark: SparkSession, config: ReportConfig, days: Sequence[date]) -> DataFrame:
    """Return the attempts of the days before, without the days themselves."""
    near = {day - timedelta(days=n) for day in days for n in range(1, LOOK_BACK + 1)}
    return _read(spark, config, "attempts", sorted(near - set(days)))


def _read(spark: SparkSession, config: ReportConfig, home: str, days: Sequence[date]) -> DataFrame:
    """Return the rows of some days of a table of the lake, of the report's queue if it is of one."""
    lake = Lake(config.lake, config.storage)
    frame = read_files(spark, lake, HOMES[home], lake.table(HOMES[home]).files(days=days))
    return frame if config.queue is None else frame.where(F.col("queue") == config.queue)


@contextmanager
def _partitions_for(spark: SparkSession, rows: int) -> Iterator[None]:
    """Set the number of partitions of a shuffle by the number of rows. The session's default does not depend on it."""
    before = spark.conf.get(PARTITIONS)
    spark.conf.set(PARTITIONS, str(max(1, -(-rows // ROWS_PER_PARTITION))))
    try:
        yield
    finally:
        spark.conf.set(PARTITIONS, str(before))


def _is(table: pa.Table, day: date) -> pa.ChunkedArray:
    return pc.equal(table["day"], pa.scalar(day, pa.date32()))
