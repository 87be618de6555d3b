"""Daily numbers: every UTC day of the window, including days without jobs."""

from datetime import date

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from minutehand_pipeline.report.durations import percentiles
from minutehand_pipeline.report.lateness import count_late, with_budget
from minutehand_pipeline.report.throughput import ended


def days(
    calendar: DataFrame, jobs: DataFrame, bills: DataFrame, objective: float, target: float, today: date
) -> DataFrame:
    """Return a row for each day of the calendar: counts, percentiles, lateness and cost.

    `bills` are the attempts with their cost. A day from `today` on is partial; a day without jobs is empty.
    """
    done = jobs.groupBy("day").agg(*ended(), *count_late(objective), *percentiles("waited", "wait_"))
    ran = bills.groupBy("day").agg(F.sum("cost").alias("cost"), *percentiles("ran", "run_"))
    return (
        calendar.join(F.broadcast(done), on="day", how="left")
        .join(F.broadcast(ran), on="day", how="left")
        .fillna(0, ["jobs", "done", "dead", "expired", "cancelled", "counted", "late"])
        .fillna(0.0, ["cost"])
        .transform(lambda frame: with_budget(frame, target))
        .withColumn("partial", F.col("day") >= F.lit(today))
        .withColumn("empty", F.col("jobs") == 0)
        .orderBy("day")
    )
