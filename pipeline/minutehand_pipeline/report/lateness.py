"""Lateness: jobs that started later than the objective, and how much of the error budget they used.

A target of 99 % within 60 s allows 1 % of the jobs to be late; that number of jobs is the error budget. The burn rate
is the share that was late divided by the share that may be late. At 1 the budget lasts as long as the window, at 10 a
tenth of it (Google, The Site Reliability Workbook, chapter 5, "Alerting on SLOs").
"""

import pandas as pd
from pyspark.sql import Column
from pyspark.sql import functions as F

from minutehand_pipeline.report.durations import rolled_up


def count_late(objective: float) -> list[Column]:
    """Return the number of started jobs and of late jobs, as aggregates."""
    return [
        F.count("waited").alias("counted"),
        F.count_if(F.col("waited") > F.lit(objective)).alias("late"),
    ]


def lateness(ended: pd.DataFrame, target: float) -> pd.DataFrame:
    """Return how many jobs started in time: of all, of each queue, and of each kind in a queue.

    `target` is the share that must, between 0 and 1. A job that never started is not counted.
    """
    counted = (
        rolled_up(ended).groupby(["queue", "kind"], dropna=False)[["counted", "late"]].sum().reset_index()
    )
    return with_budget(counted[counted["counted"] > 0], target)


def with_budget(frame: pd.DataFrame, target: float) -> pd.DataFrame:
    """Add share in time, error budget and burn rate to these counts; null if no job started."""
    late = frame["late"] / frame["counted"].where(frame["counted"] > 0)
    return frame.assign(within=1 - late, budget=frame["counted"] * (1 - target), burn=late / (1 - target))
