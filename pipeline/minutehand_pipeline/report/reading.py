"""Read the days of a report: those that earlier reports have summarized from there, the others from the lake."""

import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

import pandas as pd
import pyarrow as pa
from pyspark.sql import SparkSession

from minutehand_pipeline.errors import LakeError
from minutehand_pipeline.lake import Lake
from minutehand_pipeline.lake.summaries import Summaries, Tables, day_names, digest
from minutehand_pipeline.report.config import ReportConfig
from minutehand_pipeline.report.measuring import PARTS, VERSION, measure_days
from minutehand_pipeline.report.window import Window
from minutehand_pipeline.schemas import HOMES

LOG = logging.getLogger("minutehand_pipeline")

# Jobs and attempts that are measured together. A report that is killed continues after the last of them.
ROWS_AT_ONCE = 10_000_000
# Below this number of jobs and attempts, Java's second compiler saves nothing. With two cores and 3,700,000 of them, it
# took as long as it saved.
MEDIUM_ROWS = 4_000_000


@dataclass(frozen=True)
class Plan:
    """The days of a window that have files: their names as summaries, and the rows of those that must be read."""

    summaries: Summaries
    names: dict[date, str]
    rows: dict[date, dict[str, int]]

    @property
    def total(self) -> dict[str, int]:
        """The number of jobs and attempts to read, of all queues."""
        return {name: sum(rows[name] for rows in self.rows.values()) for name in ("jobs", "attempts")}


def plan_days(config: ReportConfig, window: Window) -> Plan:
    """Return which days a report has to read. A day is read again if its files have changed."""
    lake = Lake(config.lake, config.storage)
    summaries = Summaries(lake, definition(config))
    names = day_names(lake, window.since, window.until)
    stored = set() if config.read_all else set(summaries.names())
    rows = {day: {"jobs": 0, "attempts": 0} for day, name in names.items() if name not in stored}
    for name, home in (("jobs", "jobs_done"), ("attempts", "attempts")):
        for file in lake.table(HOMES[home]).files(days=rows):
            rows[file.day][name] += file.rows
    return Plan(summaries, names, rows)


def definition(config: ReportConfig) -> str:
    """Return what summaries depend on besides the files: reports with other prices use the same ones."""
    return f"{VERSION}-{digest(json.dumps([config.objective, config.queue]))}"


def read_days(
    session: Callable[[], SparkSession], config: ReportConfig, plan: Plan, advance: Callable[[int], None]
) -> tuple[dict[str, pd.DataFrame], int]:
    """Return the parts of all days, and how many days were read. `advance` is called with their number."""
    days: dict[date, Tables] = {}
    stored = {name: day for day, name in plan.names.items() if day not in plan.rows}
    for name, tables in plan.summaries.read(stored).items():
        days[stored[name]] = tables
    missing = sorted(set(plan.names) - set(days))
    for batch in _batches(plan, missing):
        rows = sum(sum(plan.rows.get(day, {}).values()) for day in batch)
        found = measure_days(session(), config, batch, rows)
        summarized = {plan.names[day]: found[day] for day in batch}
        store(plan.summaries, summarized, *(day.isoformat() for day in batch))
        days |= found
        advance(len(batch))
    return {name: _merged(name, [days[day] for day in sorted(days)]) for name in PARTS}, len(missing)


def _batches(plan: Plan, days: Sequence[date]) -> Iterator[list[date]]:
    batch: list[date] = []
    rows = 0
    for day in days:
        of_day = sum(plan.rows.get(day, {}).values())
        if batch and rows + of_day > ROWS_AT_ONCE:
            yield batch
            batch, rows = [], 0
        batch.append(day)
        rows += of_day
    if batch:
        yield batch


def store(summaries: Summaries, found: Mapping[str, Tables], *prefixes: str) -> None:
    """Store summaries, and delete the older ones of these prefixes. If the lake is read-only, nothing is stored."""
    try:
        outdated = [name for name in summaries.names() if name.startswith(prefixes) and name not in found]
        for name, tables in found.items():
            summaries.write(name, tables)
        summaries.delete(outdated)
    except LakeError as error:
        LOG.warning("cannot store what was read for the next report, which will read it again: %s", error)


def _merged(name: str, days: list[Tables]) -> pd.DataFrame:
    tables = [PARTS[name].empty_table(), *(day[name] for day in days)]
    return pa.concat_tables(tables).to_pandas()
