"""Make a report: measure the days of a window, and write tables and a page."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import pandas as pd
from pyspark.sql import SparkSession

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
from minutehand_pipeline.report.advice import MIN_JOBS, Goal, advise, no_advice_reason, read_sample
from minutehand_pipeline.report.config import ReportConfig, ReportResult
from minutehand_pipeline.report.folder import check_folder, write_folder
from minutehand_pipeline.report.reading import plan_days, read_days
from minutehand_pipeline.report.summary import summarize
from minutehand_pipeline.report.tables import TABLES
from minutehand_pipeline.report.window import Window, choose_window
from minutehand_pipeline.report.workload import busiest_hours

Rows = list[dict[str, Any]]
Parts = dict[str, pd.DataFrame]


def make_report(
    session: Callable[[], SparkSession],
    config: ReportConfig,
    advance: Callable[[int], None] = lambda _count: None,
) -> ReportResult:
    """Make a report, and write it to `config.out` if that is set.

    `session` is called if rows have to be read: of days that no earlier report has summarized, or for the advice.
    `advance` is called with the number of days that were read. Raises LakeError if the lake is not readable, and
    InputError if the folder is not a report.
    """
    if config.out is not None:
        check_folder(config.out)
    window = choose_window(config)
    # The mark is written before the files are listed.
    with marked_reader(Lake(config.lake, config.storage)):
        plan = plan_days(config, window)
        parts, days_read = read_days(session, config, plan, advance)
        tables = make_tables(parts, config, window)
        workload = arrivals.read_workload(parts["arrivals"], parts["work"], parts["histograms"], window)
        enough = workload.jobs.sum() >= MIN_JOBS
        sample = read_sample(session, config, window, workload, plan) if enough else None
    goal = Goal(config.objective, config.target, config.prices, config.architecture)
    reason = no_advice_reason(workload, sample)
    advice = advise(workload, sample, goal) if sample and not reason else None
    tables["capacity"] = [asdict(each) for each in advice.candidates] if advice else []
    summary = summarize(config, window, tables, workload, advice or reason)
    result = ReportResult(summary["headline"], summary, tables, len(plan.names), days_read)
    if config.out is not None:
        write_folder(config.out, result, busiest_hours(workload))
    return result


def make_tables(parts: Parts, config: ReportConfig, window: Window) -> dict[str, Rows]:
    """Return the rows of all tables that are computed from days."""
    ended, histograms, work = parts["ended"], parts["histograms"], parts["work"]
    bills = cost.priced(work, parts["requests"], config.prices, config.architecture)
    by_day = days.days(window, ended, histograms, bills, config.target, config.today)
    frames = {
        "hours": throughput.by_hour(ended),
        "throughput": throughput.by_day(ended),
        "days": by_day,
        "durations": durations.durations(histograms),
        "retries": throughput.retries(ended, work),
        "failures": failures.failures(parts["failures"]),
        "lateness": lateness.lateness(ended, config.target),
        "costs": cost.costs(bills),
        "tenants": tenants.tenants(parts["tenants"]),
        "weeks": weeks.weeks(by_day, histograms),
        "peaks": arrivals.peaks(parts["arrivals"]),
    }
    return {name: TABLES[name].rows(frame) for name, frame in frames.items()}
