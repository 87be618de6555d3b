"""Make a report: read a window of the lake, measure it, and write its tables and its page."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from minutehand_pipeline.report.capacity import Question, advise
from minutehand_pipeline.report.config import ReportConfig, ReportResult
from minutehand_pipeline.report.process import Process
from minutehand_pipeline.report.summary import summarise
from minutehand_pipeline.report.tables import TABLES
from minutehand_pipeline.report.window import Window, read_attempts, read_jobs, window_of
from minutehand_pipeline.report.write import check_folder, write_folder

from minutehand_pipeline.report import (  # isort: skip
    arrivals, cost, days, durations, failures, lateness, process_of, tenants, throughput, weeks,
)  # fmt: skip

Rows = list[dict[str, Any]]

PEAKS = 20


def run(
    spark: SparkSession, config: ReportConfig, advance: Callable[[int], None] = lambda _count: None
) -> ReportResult:
    """Make the report and write it to `config.out`; without one it is only returned.

    `advance` is told of each table when it is there. Raises LakeError for what is no lake, InputError for a folder
    that is not a report's.
    """
    if config.out is not None:
        check_folder(config.out)
    window = window_of(config)
    jobs = read_jobs(spark, config, window).persist()
    attempts = cost.billed(read_attempts(spark, config, window), config.prices, config.architecture).persist()
    try:
        frames, minutes = _frames(spark, config, window, jobs, attempts)
        tables = {name: _rows(name, frame, advance) for name, frame in frames.items()}
        each_day = spark.createDataFrame(tables["days"], TABLES["days"].spark_schema())
        tables["weeks"] = _rows("weeks", weeks.weeks(jobs, attempts, each_day), advance)
        process = process_of.process_of(minutes, attempts, window)
    finally:
        jobs.unpersist()
        attempts.unpersist()
    question = Question(config.objective, config.target, config.prices, config.architecture, config.pauses)
    plans = advise(process, question)
    tables["capacity"] = [asdict(plan) for plan in plans]
    return _finished(config, window, tables, process, summarise(config, window, tables, process, plans))


def _frames(
    spark: SparkSession, config: ReportConfig, window: Window, jobs: DataFrame, attempts: DataFrame
) -> tuple[dict[str, DataFrame], DataFrame]:
    """Return every table as a frame, by its name, and the minutes of arrivals."""
    hours = throughput.by_hour(jobs)
    minutes = arrivals.arrivals(jobs, arrivals.work_of_kinds(jobs, attempts))
    objective, target = config.objective, config.target
    frames = {
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
    return frames, minutes


def calendar(spark: SparkSession, window: Window) -> DataFrame:
    """Return the days of the window, one a row."""
    bounds = spark.range(1).select(F.lit(window.since).alias("since"), F.lit(window.until).alias("until"))
    return bounds.select(F.explode(F.sequence("since", "until", F.expr("interval 1 day"))).alias("day"))


def _rows(name: str, frame: DataFrame, advance: Callable[[int], None]) -> Rows:
    """Return a table's rows: they are aggregates, as many as there are days, queues and kinds."""
    rows: Rows = TABLES[name].of(frame).toArrow().to_pylist()
    advance(1)
    return rows


def _finished(
    config: ReportConfig, window: Window, tables: dict[str, Rows], process: Process, summary: dict[str, Any]
) -> ReportResult:
    result = ReportResult(summary["headline"], summary, tables)
    if config.out is not None:
        write_folder(config.out, result, process_of.busiest_hours(process, window))
    return result
