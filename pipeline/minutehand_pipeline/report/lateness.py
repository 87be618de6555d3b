"""Who was late: jobs begun later than the objective allows, and how much of the error budget that used up.

A target of 99 % within 60 s allows one job in a hundred to be late; the budget is that number of jobs. Burn is the
share that was late over the share that may be: at 1 the budget lasts just as long as the window, at 10 a tenth of it
(Google, The Site Reliability Workbook, chapter 5, "Alerting on SLOs").
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F


def lateness(jobs: DataFrame, objective: float, target: float) -> DataFrame:
    """Return how many jobs were begun within `objective` seconds: of all, of each queue, of each kind in it.

    `target` is the share that has to be, between 0 and 1. A job that was never begun is not counted.
    """
    return (
        jobs.rollup("queue", "kind")
        .agg(*counted(objective))
        .where("counted > 0")
        .transform(lambda frame: judged(frame, target))
    )


def counted(objective: float) -> list[Column]:
    """Return how many jobs were begun, and how many of them late, as aggregates."""
    return [
        F.count("waited").alias("counted"),
        F.count_if(F.col("waited") > F.lit(objective)).alias("late"),
    ]


def judged(frame: DataFrame, target: float) -> DataFrame:
    """Return a frame that has these counts with what they are of the target; null where nothing was begun."""
    late = F.try_divide(F.col("late"), F.col("counted"))
    return (
        frame.withColumn("within", 1 - late)
        .withColumn("budget", F.col("counted") * F.lit(1 - target))
        .withColumn("burn", late / F.lit(1 - target))
    )
