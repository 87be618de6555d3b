"""Lateness: jobs that started later than the objective, and how much of the error budget they used.

A target of 99 % within 60 s allows 1 % of the jobs to be late; that number of jobs is the error budget. The burn rate
is the share that was late divided by the share that may be late. At 1 the budget lasts as long as the window, at 10 a
tenth of it (Google, The Site Reliability Workbook, chapter 5, "Alerting on SLOs").
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F


def lateness(jobs: DataFrame, objective: float, target: float) -> DataFrame:
    """Return how many jobs started within `objective` seconds: of all, of each queue, and of each kind in a queue.

    `target` is the share that must, between 0 and 1. A job that never started is not counted.
    """
    return (
        jobs.rollup("queue", "kind")
        .agg(*count_late(objective))
        .where("counted > 0")
        .transform(lambda frame: with_budget(frame, target))
    )


def count_late(objective: float) -> list[Column]:
    """Return the number of started jobs and of late jobs, as aggregates."""
    return [
        F.count("waited").alias("counted"),
        F.count_if(F.col("waited") > F.lit(objective)).alias("late"),
    ]


def with_budget(frame: DataFrame, target: float) -> DataFrame:
    """Add share in time, error budget and burn rate to these counts; null if no job started."""
    late = F.try_divide(F.col("late"), F.col("counted"))
    return (
        frame.withColumn("within", 1 - late)
        .withColumn("budget", F.col("counted") * F.lit(1 - target))
        .withColumn("burn", late / F.lit(1 - target))
    )
