"""Day by day: every UTC day of the window, also one on which nothing ended."""

from datetime import date

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from minutehand_pipeline.report.durations import percentiles
from minutehand_pipeline.report.lateness import counted, judged
from minutehand_pipeline.report.throughput import ended


def days(
    calendar: DataFrame, jobs: DataFrame, bills: DataFrame, objective: float, target: float, today: date
) -> DataFrame:
    """Return a row for each day of the calendar: what ended, how long it took, who was late, what it cost.

    `bills` are the attempts with their cost. A day that is not over at `today` is partial, one without jobs empty.
    """
    done = jobs.groupBy("day").agg(*ended(), *counted(objective), *percentiles("waited", "wait_"))
    ran = bills.groupBy("day").agg(F.sum("cost").alias("cost"), *percentiles("ran", "run_"))
    return (
        calendar.join(F.broadcast(done), on="day", how="left")
        .join(F.broadcast(ran), on="day", how="left")
        .fillna(0, ["jobs", "done", "dead", "cancelled", "counted", "late"])
        .fillna(0.0, ["cost"])
        .transform(lambda frame: judged(frame, target))
        .withColumn("partial", F.col("day") >= F.lit(today))
        .withColumn("empty", F.col("jobs") == 0)
        .orderBy("day")
    )
