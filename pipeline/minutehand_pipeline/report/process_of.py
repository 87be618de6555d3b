"""From the minutes that brought jobs to the process that advice is on, with the minutes that brought none."""

import numpy as np
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from minutehand_pipeline.report.durations import ACCURACY
from minutehand_pipeline.report.process import Numbers, Process
from minutehand_pipeline.report.window import Window


def process_of(minutes: DataFrame, attempts: DataFrame, window: Window) -> Process:
    """Return the arrivals of a window; what fell due before it, and only ended in it, is left out.

    One row a minute comes to the driver: half a million a year.
    """
    rows = minutes.select(F.unix_seconds("minute").alias("at"), "jobs", "work", "attempts").toArrow()
    places = (rows["at"].to_numpy() - int(window.begin.timestamp())) // 60
    inside = (places >= 0) & (places < window.days * 1440)

    def filled(column: str) -> Numbers:
        whole = np.zeros(window.days * 1440)
        whole[places[inside]] = rows[column].to_numpy()[inside]
        return whole

    jobs, tries = filled("jobs"), filled("attempts")
    run, p95, memory = _run(attempts)
    return Process(jobs, filled("work"), float(tries.sum() / max(1.0, jobs.sum())), run, p95, memory / 1024)


def busiest_hours(process: Process, window: Window) -> list[float]:
    """Return for each hour of the window how many workers its busiest minute kept busy."""
    return [float(each) for each in process.busy.reshape(-1, 60).max(axis=1)]


def _run(attempts: DataFrame) -> tuple[float, float, float]:
    """Return the mean and the 95th percentile of the attempts' seconds, and their mean memory in MB (or else 128)."""
    found = attempts.agg(F.avg("ran"), F.percentile_approx("ran", 0.95, ACCURACY), F.avg("memory_mb")).first()
    run, p95, memory = found if found is not None else (None, None, None)
    return run or 0.0, p95 or 0.0, memory or 128.0
