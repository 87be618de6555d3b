"""Make a report: read a window of the lake, measure it, and write tables and a page."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from minutehand_pipeline.lake import Lake
from minutehand_pipeline.lake.readers import marked_reader
from minutehand_pipeline.report import (
    arrivals,
    cost,
    days,
    durations,
    failures,
    lateness,
    tenants,
    throughput,
    weeks,
)
from minutehand_pipeline.report.advice import Goal, advise, no_advice_reason, read_sample
from minutehand_pipeline.report.config import ReportConfig, ReportResult
from minutehand_pipeline.report.folder import check_folder, write_folder
from minutehand_pipeline.report.measured import with_later_start, with_wait
from minutehand_pipeline.report.summary import summarize
from minutehand_pipeline.report.tables import TABLES
from minutehand_pipeline.report.window import (
    Window,
    choose_window,
    count_rows,
    in_window,
    read_attempts,
    read_jobs,
)
from minutehand_pipeline.report.workload import busiest_hours

Rows = list[dict[str, Any]]

PEAKS = 20
# Tables that are computed at the same time.
AT_ONCE = 3
PARTITIONS = "spark.sql.shuffle.partitions"
# A partition of this many jobs and attempts takes about 100 MB.
ROWS_PER_PARTITION = 500_000
# Shared requests that a task may hold in memory: 16 MB.
MAX_BROADCAST = 1_000_000


def make_report(
    spark: SparkSession, config: ReportConfig, advance: Callable[[int], None] = lambda _count: None
) -> ReportResult:
    """Make a report, and write it to `config.out` if that is set.

    `advance` is called after each table. Raises LakeError if the lake is not readable, and InputError if the folder is
    not a report.
    """
    if config.out is not None:
        check_folder(config.out)
    window = choose_window(config)
    with _measured(spark, config, window) as (jobs, attempts):
        minutes = arrivals.arrivals_by_minute(jobs, arrivals.work_by_kind(jobs, attempts)).persist()
        tables = _collect(_frames(spark, config, window, jobs, attempts, minutes), advance)
        each_day = spark.createDataFrame(tables["days"], TABLES["days"].spark_schema())
        tables |= _collect({"weeks": weeks.weeks(jobs, attempts, each_day)}, advance)
        workload = arrivals.read_workload(minutes, attempts, window)
        minutes.unpersist()
        sample = read_sample(spark, config, window, workload)
    goal = Goal(config.objective, config.target, config.prices, config.architecture)
    reason = no_advice_reason(workload, sample)
    advice = advise(workload, sample, goal) if sample and not reason else None
    tables["capacity"] = [asdict(each) for each in advice.candidates] if advice else []
    summary = summarize(config, window, tables, workload, advice or reason)
    result = ReportResult(summary["headline"], summary, tables)
    if config.out is not None:
        write_folder(config.out, result, busiest_hours(workload))
    return result


def calendar(spark: SparkSession, window: Window) -> DataFrame:
    """Return the days of the window, one per row."""
    bounds = spark.range(1).select(F.lit(window.since).alias("since"), F.lit(window.until).alias("until"))
    return bounds.select(F.explode(F.sequence("since", "until", F.expr("interval 1 day"))).alias("day"))


@contextmanager
def _measured(
    spark: SparkSession, config: ReportConfig, window: Window
) -> Iterator[tuple[DataFrame, DataFrame]]:
    """Yield the jobs with their waits and the attempts with their costs. Each file of the lake is read once.

    The frames are cached, and the counts of the rare rows, moved jobs and shared requests, choose a cheap plan.
    """
    with _partitions_for(spark, sum(count_rows(config, window).values())), ExitStack() as cached:
        # Before the first list of files.
        cached.enter_context(marked_reader(Lake(config.lake, config.storage)))

        def keep(frame: DataFrame) -> DataFrame:
            cached.callback(frame.unpersist)
            return frame.persist()

        before = keep(read_attempts(spark, config, window))
        jobs = keep(read_jobs(spark, config, window, before))
        if jobs.where("moved").count():
            jobs = keep(with_later_start(jobs, before))
        attempts = in_window(before, window)
        shared = keep(cost.shared_requests(attempts))
        if shared.count() <= MAX_BROADCAST:
            shared = F.broadcast(shared)
        yield with_wait(jobs), cost.billed(attempts, config.prices, config.architecture, shared)


@contextmanager
def _partitions_for(spark: SparkSession, rows: int) -> Iterator[None]:
    """Set the number of partitions of a shuffle by the number of rows. The session's default does not depend on it."""
    before = spark.conf.get(PARTITIONS)
    spark.conf.set(PARTITIONS, str(max(1, -(-rows // ROWS_PER_PARTITION))))
    try:
        yield
    finally:
        spark.conf.set(PARTITIONS, str(before))


def _frames(
    spark: SparkSession,
    config: ReportConfig,
    window: Window,
    jobs: DataFrame,
    attempts: DataFrame,
    minutes: DataFrame,
) -> dict[str, DataFrame]:
    """Return the tables as frames, by name."""
    hours = throughput.by_hour(jobs)
    objective, target = config.objective, config.target
    return {
        "hours": hours,
        "throughput": throughput.by_day(hours),
        "days": days.days(calendar(spark, window), jobs, attempts, objective, target, config.today),
        "durations": durations.durations(jobs, attempts),
        "retries": throughput.retries(attempts),
        "failures": failures.failures(jobs, attempts),
        "lateness": lateness.lateness(jobs, objective, target),
        "costs": cost.costs(attempts),
        "tenants": tenants.tenants(jobs, attempts),
        "peaks": minutes.orderBy(F.desc("work"), "minute").limit(PEAKS),
    }


def _collect(frames: dict[str, DataFrame], advance: Callable[[int], None]) -> dict[str, Rows]:
    """Return the rows of tables, by name. They are aggregates, so there are few.

    Some tables are computed at the same time, because the driver plans one while the tasks of another run.
    """

    def rows(name: str) -> Rows:
        return list(TABLES[name].select(frames[name]).toArrow().to_pylist())

    tables = {}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for name, found in zip(frames, pool.map(rows, frames), strict=True):
            tables[name] = found
            advance(1)
    return tables
