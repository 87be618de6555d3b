"""The sample: the jobs that the advice is verified with, all of the window or those of its busiest hours."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import cached_property

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from minutehand_pipeline.lake.summaries import digest
from minutehand_pipeline.report.config import ReportConfig
from minutehand_pipeline.report.reading import Plan, store
from minutehand_pipeline.report.window import Window, read_rows
from minutehand_pipeline.report.workload import Workload
from minutehand_pipeline.simulate.arrivals import SCHEMA, Arrivals, order, read_arrivals
from minutehand_pipeline.simulate.history import arrivals

# Jobs that are simulated for each candidate; an hour with more of them is too long to simulate in a report.
MOST_JOBS, MOST_OF_HOUR = 10_000, 200_000
HOUR = 3600.0
# Start of the name of a stored sample.
SAMPLE = "sample-"
# Hours after the sample in which its jobs may end.
LOOK_AHEAD = timedelta(days=1)


@dataclass(frozen=True)
class Sample:
    """Jobs that fell due from `since` to `until`, in seconds since 1970, as rows of arrivals.

    `share` is their share of the window's work, and `hours` how many hours they cover; 0 for all.
    """

    rows: pa.Table
    since: float
    until: float
    hours: int = 0

    @cached_property
    def arrivals(self) -> Arrivals:
        """The jobs as the engine reads them."""
        return read_arrivals(self.rows, self.since, self.until, with_names=False)

    def with_more(self, share: float, seed: int) -> "Sample":
        """Return the sample with more jobs: random ones of it once more, up to half an hour earlier or later."""
        chance = np.random.default_rng(seed)
        count = len(self.rows)
        chosen = chance.choice(count, size=round(count * share), replace=False)
        # Spark's order depends on the number of cores.
        moved = self.rows.take(order(self.rows)).take(chosen)
        at = moved["due"].to_numpy() + chance.uniform(-HOUR / 2, HOUR / 2, len(chosen))
        at = self.since + (at - self.since) % (self.until - self.since)
        changes = {"due": at, "known": at, "salt": chance.integers(-(2**63), 2**63, len(chosen))}
        for name, values in changes.items():
            moved = moved.set_column(moved.schema.get_field_index(name), name, pa.array(values))
        for name in ("batch", "follows"):
            empty = pa.nulls(len(chosen), pa.string())
            moved = moved.set_column(moved.schema.get_field_index(name), name, empty)
        return replace(self, rows=pa.concat_tables([self.rows, moved.cast(self.rows.schema)]))


def busiest_hours_of(workload: Workload, most: int = MOST_JOBS) -> tuple[int, int] | None:
    """Return the first hour and the end of the successive hours with the most work, among those with few enough jobs.

    At least one hour; None if that has too many jobs.
    """
    jobs, work = (
        np.concatenate([[0.0], np.cumsum(each.reshape(-1, 60).sum(axis=1))]) for each in _series(workload)
    )
    starts = np.arange(len(jobs) - 1)
    ends = np.maximum(starts + 1, np.searchsorted(jobs, jobs[:-1] + most, side="right") - 1)
    # Later starts only have a part of the last hours.
    starts = starts[: int(np.argmax(ends == len(jobs) - 1)) + 1]
    ends = ends[: len(starts)]
    first = int(np.argmax((work[ends] - work[starts]) / (ends - starts)))
    return None if jobs[first + 1] - jobs[first] > MOST_OF_HOUR else (first, int(ends[first]))


def read_sample(
    session: Callable[[], SparkSession], config: ReportConfig, window: Window, workload: Workload, plan: Plan
) -> Sample | None:
    """Return the jobs to simulate, or None if there are none or too many in an hour.

    They are stored for the next report with the same busiest hours, as long as the files of their days are the same.
    """
    hours = busiest_hours_of(workload) if workload.work.sum() else None
    if hours is None:
        return None
    since, until = (window.begin + timedelta(hours=each) for each in hours)
    last = min(window.until, (until + LOOK_AHEAD).date())
    files = [name for day, name in plan.names.items() if since.date() <= day <= last]
    name = SAMPLE + digest(since.isoformat(), until.isoformat(), *files)
    stored = {} if config.read_all else plan.summaries.read([name])
    if name in stored:
        rows = stored[name]["rows"]
    else:
        rows = _read_rows(session(), config, (since, until), last)
        store(plan.summaries, {name: {"rows": rows}}, SAMPLE)
    if not len(rows):
        return None
    whole = hours == (0, len(workload.jobs) // 60)
    return Sample(rows, _seconds(since), _seconds(until), 0 if whole else hours[1] - hours[0])


def _read_rows(
    spark: SparkSession, config: ReportConfig, hours: tuple[datetime, datetime], last: date
) -> pa.Table:
    since, until = hours
    jobs, attempts = (
        read_rows(spark, config, home, since.date(), last) for home in ("jobs_done", "attempts")
    )
    in_hours = jobs.where((F.col("run_at") >= since) & (F.col("run_at") < until))
    return arrivals(in_hours, attempts).select(*SCHEMA.names).toArrow()


def _series(workload: Workload) -> "tuple[np.ndarray, np.ndarray]":
    return workload.jobs, workload.work


def _seconds(moment: datetime) -> float:
    return moment.astimezone(UTC).timestamp()
