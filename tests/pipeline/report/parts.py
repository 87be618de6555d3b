"""The tables of a report from frames of the lake, without a lake."""

from datetime import date
from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame

from minutehand_pipeline.prices import LIST, Prices
from minutehand_pipeline.report import arrivals, cost, tenants, throughput
from minutehand_pipeline.report.buckets import histogram
from minutehand_pipeline.report.config import ReportConfig
from minutehand_pipeline.report.failures import failures_by_day
from minutehand_pipeline.report.measured import measured_attempts, measured_jobs
from minutehand_pipeline.report.measuring import PARTS
from minutehand_pipeline.report.report import make_tables
from minutehand_pipeline.report.window import Window

WINDOW = Window(date(2026, 3, 29), date(2026, 3, 31))


def parts(
    names: tuple[str, ...], jobs: DataFrame, attempts: DataFrame, objective: float = 60.0
) -> dict[str, pd.DataFrame]:
    """Return the named parts of jobs and attempts of the lake. The others are empty, which is faster."""
    ran = measured_attempts(attempts)
    ended = measured_jobs(jobs, ran)
    frames = {
        "ended": lambda: throughput.ended_by_hour(ended, objective),
        "histograms": lambda: histogram(ended, "waited", "wait").unionByName(histogram(ran, "ran", "run")),
        "work": lambda: arrivals.work(ran),
        "requests": lambda: cost.requests(ran),
        "arrivals": lambda: arrivals.arrivals_by_minute(ended, ran),
        "tenants": lambda: tenants.tenants_by_day(ended, ran),
        "failures": lambda: failures_by_day(ended, ran),
    }
    found = {name: schema.empty_table() for name, schema in PARTS.items()}
    for name in names:
        found[name] = frames[name]().select(*PARTS[name].names).toArrow().cast(PARTS[name])
    return {name: table.to_pandas() for name, table in found.items()}


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
