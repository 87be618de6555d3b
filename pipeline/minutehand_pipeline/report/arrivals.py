"""When jobs fell due, minute by minute, and how much work they brought: the basis of the advice on capacity."""

import numpy as np
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from minutehand_pipeline.report.durations import ACCURACY
from minutehand_pipeline.report.window import Window
from minutehand_pipeline.report.workload import Numbers, Workload

DEFAULT_MEMORY_MB = 128.0


def work_by_kind(jobs: DataFrame, attempts: DataFrame) -> DataFrame:
    """Return the mean run time in seconds, and the mean number of attempts, of a job of each queue and kind."""
    ran = attempts.groupBy("queue", "kind").agg(F.sum("ran").alias("ran"), F.count("ran").alias("tries"))
    counted = jobs.groupBy("queue", "kind").agg(F.count("*").alias("jobs"))
    return counted.join(ran, on=["queue", "kind"], how="left").select(
        "queue",
        "kind",
        F.coalesce(F.col("ran") / F.col("jobs"), F.lit(0.0)).alias("work"),
        F.coalesce(F.col("tries") / F.col("jobs"), F.lit(0.0)).alias("tries"),
    )


def arrivals_by_minute(jobs: DataFrame, work: DataFrame) -> DataFrame:
    """Return the minutes in which started jobs fell due: the number of jobs, and the work that they brought.

    The work is the kind's mean, in seconds of one worker. Divided by 60, it is the number of workers that the minute's
    jobs keep busy, by Little's law.
    """
    due = (
        jobs.where(F.col("began").isNotNull() & F.col("run_at").isNotNull())
        .groupBy(F.date_trunc("minute", "run_at").alias("minute"), "queue", "kind")
        .agg(F.count("*").alias("jobs"))
    )
    return (
        due.join(F.broadcast(work), on=["queue", "kind"], how="inner")
        .groupBy("minute")
        .agg(
            F.sum("jobs").alias("jobs"),
            F.sum(F.col("jobs") * F.col("work")).alias("work"),
            F.sum(F.col("jobs") * F.col("tries")).alias("attempts"),
        )
        .withColumn("busy", F.col("work") / 60)
        .orderBy("minute")
    )


def read_workload(minutes: DataFrame, attempts: DataFrame, window: Window) -> Workload:
    """Return the workload of a window. Jobs that fell due before the window are left out.

    One row per minute is sent to the driver: half a million per year.
    """
    rows = minutes.select(F.unix_seconds("minute").alias("at"), "jobs", "work", "attempts").toArrow()
    places = (rows["at"].to_numpy() - int(window.begin.timestamp())) // 60
    inside = (places >= 0) & (places < window.days * 1440)

    def filled(column: str) -> Numbers:
        values = np.zeros(window.days * 1440)
        values[places[inside]] = rows[column].to_numpy()[inside]
        return values

    jobs, tries = filled("jobs"), filled("attempts")
    run, p95, memory = _run_times(attempts)
    return Workload(jobs, filled("work"), float(tries.sum() / max(1.0, jobs.sum())), run, p95, memory / 1024)


def _run_times(attempts: DataFrame) -> tuple[float, float, float]:
    """Return the mean and the 95th percentile of the attempts' seconds, and their mean memory in megabytes."""
    found = attempts.agg(F.avg("ran"), F.percentile_approx("ran", 0.95, ACCURACY), F.avg("memory_mb")).first()
    run, p95, memory = found if found is not None else (None, None, None)
    return run or 0.0, p95 or 0.0, memory or DEFAULT_MEMORY_MB
