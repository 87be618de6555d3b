"""Make a report: read a window of the lake, measure it, and write tables and a page."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

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
from minutehand_pipeline.report.capacity import Goal, advise
from minutehand_pipeline.report.config import ReportConfig, ReportResult
from minutehand_pipeline.report.folder import check_folder, write_folder
from minutehand_pipeline.report.summary import summarize
from minutehand_pipeline.report.tables import TABLES
from minutehand_pipeline.report.window import Window, choose_window, read_attempts, read_jobs
from minutehand_pipeline.report.workload import busiest_hours

Rows = list[dict[str, Any]]

PEAKS = 20


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
    jobs = read_jobs(spark, config, window).persist()
    attempts = cost.billed(read_attempts(spark, config, window), config.prices, config.architecture).persist()
    try:
        minutes = arrivals.arrivals_by_minute(jobs, arrivals.work_by_kind(jobs, attempts))
        frames = _frames(spark, config, window, jobs, attempts, minutes)
        tables = {name: _rows(name, frame, advance) for name, frame in frames.items()}
        each_day = spark.createDataFrame(tables["days"], TABLES["days"].spark_schema())
        tables["weeks"] = _rows("weeks", weeks.weeks(jobs, attempts, each_day), advance)
        workload = arrivals.read_workload(minutes, attempts, window)
    finally:
        jobs.unpersist()
        attempts.unpersist()
    goal = Goal(config.objective, config.target, config.prices, config.architecture)
    advice = advise(workload, goal)
    tables["capacity"] = [asdict(advice)] if advice else []
    summary = summarize(config, window, tables, workload, advice)
    result = ReportResult(summary["headline"], summary, tables)
    if config.out is not None:
        write_folder(config.out, result, busiest_hours(workload))
    return result


def calendar(spark: SparkSession, window: Window) -> DataFrame:
    """Return the days of the window, one per row."""
    bounds = spark.range(1).select(F.lit(window.since).alias("since"), F.lit(window.until).alias("until"))
    return bounds.select(F.explode(F.sequence("since", "until", F.expr("interval 1 day"))).alias("day"))


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


def _rows(name: str, frame: DataFrame, advance: Callable[[int], None]) -> Rows:
    """Return a table's rows. They are aggregates, so there are few."""
    rows: Rows = TABLES[name].select(frame).toArrow().to_pylist()
    advance(1)
    return rows
