"""Measure how long jobs waited and attempts ran."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

# Tolerated difference between the clocks of a database and of its replacement.
CLOCK_TOLERANCE = "interval 10 milliseconds"


def seconds_between(since: Column, until: Column) -> Column:
    """Return the seconds between two times, to the microsecond and at least 0; null if one is null."""
    return F.when(
        since.isNotNull() & until.isNotNull(),
        F.greatest(F.lit(0.0), (F.unix_micros(until) - F.unix_micros(since)) / F.lit(1e6)),
    )


def measured_attempts(attempts: DataFrame) -> DataFrame:
    """Return attempts with `ran`, the seconds from start to end.

    It is null if the attempt lapsed, because its end is unknown, or was released, because it never started. Missing
    names are empty strings, so that joins and groups keep all rows.
    """
    finished = F.col("outcome").isNull() | ~F.col("outcome").isin("lapsed", "released")
    return attempts.select(
        "day",
        "job",
        "attempt",
        "started",
        "ended",
        _name("tenant"),
        _name("queue"),
        _name("kind"),
        "outcome",
        "memory_mb",
        "request",
        "error",
        F.when(finished, seconds_between(F.col("started"), F.col("ended"))).alias("ran"),
    )


def starts(attempts: DataFrame) -> DataFrame:
    """Return the start times of each job's attempts, in order, without released ones."""
    return (
        attempts.where(F.col("started").isNotNull())
        .where(F.col("outcome").isNull() | (F.col("outcome") != "released"))
        .groupBy("job")
        .agg(F.array_sort(F.collect_list(F.struct("started", "attempt"))).alias("starts"))
    )


def measured_jobs(jobs: DataFrame, starts: DataFrame) -> DataFrame:
    """Return jobs with `began`, the start of the first attempt, and `waited`, the seconds from `run_at` to it.

    If the lake lacks the attempts, the claim of a job that ended with its first attempt is used. Both are null if a job
    never started, for example because it was cancelled.
    """
    by_claim = F.when(F.col("attempts") == 1, F.col("claimed"))
    began = F.coalesce(_began(), by_claim)
    return jobs.join(starts, jobs["id"] == starts["job"], how="left").select(
        "day",
        "id",
        _name("tenant"),
        _name("queue"),
        _name("kind"),
        "state",
        "run_at",
        "deleted",
        "attempts",
        "error",
        began.alias("began"),
        seconds_between(F.col("run_at"), began).alias("waited"),
    )


def _began() -> Column:
    """Return the first start since `run_at`, if it is known to be the first: it has the number 1, or follows another.

    Earlier attempts do not count, because the job was replaced or moved after them.
    """
    earliest = F.col("run_at") - F.expr(CLOCK_TOLERANCE)
    since = F.filter("starts", lambda start: F.col("run_at").isNull() | (start["started"] >= earliest))
    first = F.get(since, F.lit(0))
    follows = F.size(since) < F.size("starts")
    return F.when((first["attempt"] == 1) | follows, first["started"])


def _name(column: str) -> Column:
    return F.coalesce(F.col(column), F.lit("")).alias(column)
