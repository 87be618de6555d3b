"""When jobs fell due, minute by minute, and how much work came with them: the arrival process that advice is on."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def work_of_kinds(jobs: DataFrame, attempts: DataFrame) -> DataFrame:
    """Return the mean seconds of run time, and the mean attempts, that a job of each queue and kind takes in all."""
    ran = attempts.groupBy("queue", "kind").agg(F.sum("ran").alias("ran"), F.count("ran").alias("tries"))
    came = jobs.groupBy("queue", "kind").agg(F.count("*").alias("came"))
    return came.join(ran, on=["queue", "kind"], how="left").select(
        "queue",
        "kind",
        F.coalesce(F.col("ran") / F.col("came"), F.lit(0.0)).alias("work"),
        F.coalesce(F.col("tries") / F.col("came"), F.lit(0.0)).alias("tries"),
    )


def arrivals(jobs: DataFrame, works: DataFrame) -> DataFrame:
    """Return the minutes in which jobs fell due that were then begun: how many, and the work that they brought.

    The work is the kind's mean, in seconds of one worker; over 60 it is the number of workers that the minute's jobs
    keep busy for a minute, which is Little's law, L = λW, for that minute.
    """
    return (
        jobs.where(F.col("begun").isNotNull() & F.col("run_at").isNotNull())
        .join(F.broadcast(works), on=["queue", "kind"], how="inner")
        .groupBy(F.date_trunc("minute", "run_at").alias("minute"))
        .agg(
            F.count("*").alias("jobs"),
            F.sum("work").alias("work"),
            F.sum("tries").alias("attempts"),
        )
        .withColumn("busy", F.col("work") / 60)
        .orderBy("minute")
    )
