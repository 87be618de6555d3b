"""Week over week: each ISO week in UTC, and the changes since the week before."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from minutehand_pipeline.report.durations import percentiles

COMPARED = ("jobs", "dead", "wait_p95", "run_p95", "within", "cost")


def weeks(jobs: DataFrame, attempts: DataFrame, days: DataFrame) -> DataFrame:
    """Return each week with its differences from the week before.

    Differences are null unless both weeks are complete. `days` is the report's table of days.
    """
    waits = jobs.groupBy(_week()).agg(*percentiles("waited", "wait_"))
    runs = attempts.groupBy(_week()).agg(*percentiles("ran", "run_"))
    found = (
        _summed(days)
        .join(F.broadcast(waits), on="week", how="left")
        .join(F.broadcast(runs), on="week", how="left")
    )
    return found.transform(_compared).orderBy("week")


def _week() -> Column:
    return F.to_date(F.date_trunc("week", "day")).alias("week")


def _summed(days: DataFrame) -> DataFrame:
    sums = ("jobs", "done", "dead", "expired", "cancelled", "counted", "late", "cost")
    return (
        days.groupBy(_week())
        .agg(
            F.count_if(~F.col("partial")).alias("days"),
            *(F.sum(name).alias(name) for name in sums),
        )
        .withColumn("whole", F.col("days") == 7)
        .withColumn("within", 1 - F.try_divide("late", "counted"))
    )


def _compared(frame: DataFrame) -> DataFrame:
    before = frame.where("whole").select(
        F.date_add("week", 7).alias("week"),
        *(F.col(name).alias(f"{name}_before") for name in COMPARED),
    )
    changes = {
        f"{name}_change": F.when(F.col("whole"), F.col(name) - F.col(f"{name}_before")) for name in COMPARED
    }
    return frame.join(F.broadcast(before), on="week", how="left").withColumns(changes)
