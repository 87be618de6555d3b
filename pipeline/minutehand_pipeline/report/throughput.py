"""How many jobs ended in each hour and on each day, and how often they were retried."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

STATES = ("done", "dead", "expired", "cancelled")


def by_hour(jobs: DataFrame) -> DataFrame:
    """Return how many jobs of each queue and kind ended in each UTC hour, by state."""
    return (
        jobs.groupBy(F.date_trunc("hour", "deleted").alias("hour"), "queue", "kind")
        .agg(*ended())
        .orderBy("hour", "queue", "kind")
    )


def by_day(hours: DataFrame) -> DataFrame:
    """Sum the hours by UTC day."""
    return (
        hours.groupBy(F.to_date("hour").alias("day"), "queue", "kind")
        .agg(*(F.sum(name).alias(name) for name in ("jobs", *STATES)))
        .orderBy("day", "queue", "kind")
    )


def retries(attempts: DataFrame) -> DataFrame:
    """Return how often the jobs of each queue and kind were retried.

    A retry is any attempt after the first, except snoozed and released ones.
    """
    tried = ~F.col("outcome").isin("snoozed", "released")
    outcomes = {"lapsed": "lapsed", "snoozes": "snoozed", "released": "released"}
    of_jobs = attempts.groupBy("queue", "kind", "job").agg(
        F.count_if(tried).alias("attempts"),
        F.count_if(tried & (F.col("attempt") > 1)).alias("retries"),
        F.max("attempt").alias("most"),
        *(F.count_if(F.col("outcome") == outcome).alias(name) for name, outcome in outcomes.items()),
    )
    return (
        of_jobs.groupBy("queue", "kind")
        .agg(
            F.count("job").alias("jobs"),
            F.count_if(F.col("most") > 1).alias("retried"),
            F.max("most").alias("most"),
            *(F.sum(name).alias(name) for name in ("attempts", "retries", *outcomes)),
        )
        .withColumn("share", F.col("retried") / F.col("jobs"))
        .orderBy(F.desc("retries"), "queue", "kind")
    )


def ended() -> list[Column]:
    """Return the number of jobs, in all and by state, as aggregates."""
    states = [F.count_if(F.col("state") == state).alias(state) for state in STATES]
    return [F.count("*").alias("jobs"), *states]
