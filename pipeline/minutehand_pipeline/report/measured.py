"""What the report measures of a job and of an attempt: how long it waited, how long it ran."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F


def seconds_between(since: Column, until: Column) -> Column:
    """Return the seconds from one moment to another, to the microsecond; never below 0; null where one is null."""
    return F.when(
        since.isNotNull() & until.isNotNull(),
        F.greatest(F.lit(0.0), (F.unix_micros(until) - F.unix_micros(since)) / F.lit(1e6)),
    )


def measured_attempts(attempts: DataFrame) -> DataFrame:
    """Return attempts with `ran`, their seconds from start to end.

    It is null of one that lapsed, whose worker never said when it ended, and of one that was released: given back
    before it began. What was never said of a name is an empty text, so that no row falls out of a join or a group.
    """
    began = F.col("outcome").isNull() | ~F.col("outcome").isin("lapsed", "released")
    return attempts.select(
        "day",
        "job",
        "attempt",
        "started",
        "ended",
        _named("tenant"),
        _named("queue"),
        _named("kind"),
        "outcome",
        "memory_mb",
        "request",
        "error",
        F.when(began, seconds_between(F.col("started"), F.col("ended"))).alias("ran"),
    )


def first_starts(attempts: DataFrame) -> DataFrame:
    """Return when each job was first begun: by its earliest attempt that bears the number 1 and was not given back."""
    return (
        attempts.where(F.col("attempt") == 1)
        .where(F.col("outcome").isNull() | (F.col("outcome") != "released"))
        .groupBy("job")
        .agg(F.min("started").alias("begun"))
    )


def measured_jobs(jobs: DataFrame, starts: DataFrame) -> DataFrame:
    """Return jobs with `begun`, when the first attempt started, and `waited`, the seconds until then from `run_at`.

    Where the attempts are not in the lake, a job that ended with its first attempt has it by its claim. A job that
    was never begun, such as one that was cancelled, has waited for nothing: null.
    """
    by_claim = F.when(F.col("attempts") == 1, F.col("claimed"))
    begun = F.coalesce(F.col("begun"), by_claim)
    return jobs.join(starts, jobs["id"] == starts["job"], how="left").select(
        "day",
        "id",
        _named("tenant"),
        _named("queue"),
        _named("kind"),
        "state",
        "run_at",
        "deleted",
        "attempts",
        "error",
        begun.alias("begun"),
        seconds_between(F.col("run_at"), begun).alias("waited"),
    )


def _named(column: str) -> Column:
    return F.coalesce(F.col(column), F.lit("")).alias(column)
