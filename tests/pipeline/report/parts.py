"""The tables of a report from frames of the lake, without a lake."""

from datetime import date
from functools import cache
from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame

from minutehand_pipeline.prices import LIST, Prices
from minutehand_pipeline.report.arrivals import arrivals_by_minute, work_per_job
from minutehand_pipeline.report.config import ReportConfig
from minutehand_pipeline.report.cost import requests
from minutehand_pipeline.report.counting import (
    ATTEMPTS,
    JOBS,
    by_grouping,
    count_attempts,
    count_jobs,
    histograms,
)
from minutehand_pipeline.report.failures import failures_by_day
from minutehand_pipeline.report.measured import measured_attempts, measured_jobs
from minutehand_pipeline.report.measuring import PARTS
from minutehand_pipeline.report.report import make_tables
from minutehand_pipeline.report.tenants import attribute_waiting, tenants_by_day
from minutehand_pipeline.report.window import Window

WINDOW = Window(date(2026, 3, 29), date(2026, 3, 31))


def parts(
    names: tuple[str, ...], jobs: DataFrame, attempts: DataFrame, objective: float = 60.0
) -> dict[str, pd.DataFrame]:
    """Return the named parts of jobs and attempts of the lake. The others are empty, which is faster."""
    ran = measured_attempts(attempts)
    ended = measured_jobs(jobs, ran)

    @cache
    def of_jobs() -> dict[str, pa.Table]:
        return by_grouping(count_jobs(ended, objective).toArrow(), JOBS)

    @cache
    def of_attempts() -> dict[str, pa.Table]:
        return by_grouping(count_attempts(ran).toArrow(), ATTEMPTS)

    def due() -> pa.Table:
        means = jobs.sparkSession.createDataFrame(work_per_job(of_jobs()["ended"], of_attempts()["work"]))
        return arrivals_by_minute(ended, means).toArrow()

    def used() -> pa.Table:
        others = attribute_waiting(ended, ran).toArrow()
        return tenants_by_day(of_jobs()["tenants"], of_attempts()["tenants"], others)

    found = {
        "ended": lambda: of_jobs()["ended"],
        "histograms": lambda: histograms(of_jobs()["histograms"], of_attempts()["histograms"]),
        "work": lambda: of_attempts()["work"],
        "requests": lambda: requests(ran).toArrow(),
        "arrivals": due,
        "tenants": used,
        "failures": lambda: failures_by_day(ended, ran).toArrow(),
    }
    empty = {name: schema.empty_table() for name, schema in PARTS.items()}
    computed = {name: found[name]().select(PARTS[name].names).cast(PARTS[name]) for name in names}
    return {name: table.to_pandas() for name, table in (empty | computed).items()}


def tables(
    found: dict[str, pd.DataFrame], prices: Prices = LIST, window: Window = WINDOW, **options: Any
) -> dict[str, list[dict[str, Any]]]:
    """Return the tables of parts. The last day of March is not over."""
    config = ReportConfig(lake="lake", prices=prices, today=date(2026, 3, 31), **options)
    return make_tables(found, config, window)


def part(name: str, rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Return a part with these rows; what they lack is 0 or null."""
    schema = PARTS[name]
    counts = {field.name: 0 for field in schema if pa.types.is_integer(field.type)}
    return pa.Table.from_pylist([{**counts, **row} for row in rows], schema).to_pandas()
