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
    names are empty strings, so that joins and groups keep all rows. `request` becomes a 64-bit hash, which is enough
    to recognize attempts of one invocation.
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
        F.when(F.col("request").isNotNull(), F.xxhash64("request")).alias("request"),
        "error",
        F.when(finished, seconds_between(F.col("started"), F.col("ended"))).alias("ran"),
    )


def starts(attempts: DataFrame) -> DataFrame:
    """Return each job's first start, and the first start of an attempt numbered 1, without released attempts."""
    return (
        _started(attempts)
        .groupBy("job")
        .agg(
            F.min("started").alias("first"),
            F.min(F.when(F.col("attempt") == 1, F.col("started"))).alias("one"),
        )
    )


def with_first_start(jobs: DataFrame, attempts: DataFrame) -> DataFrame:
    """Return jobs with `first`, the start of the first attempt if that is known to be the first, and `moved`.

    A moved job was replaced or moved after its first attempt, so attempts before `run_at` do not count. Its first
    start is null here; `with_later_start` finds it.
    """
    found = starts(attempts)
    moved = F.coalesce(F.col("first") < _earliest(), F.lit(False))
    return jobs.join(found, jobs["id"] == found["job"], how="left").select(
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
        F.when(F.col("attempts") == 1, F.col("claimed")).alias("claimed"),
        F.when(~moved & (F.col("first") == F.col("one")), F.col("first")).alias("first"),
        moved.alias("moved"),
    )


def with_later_start(jobs: DataFrame, attempts: DataFrame) -> DataFrame:
    """Return jobs with the first start since `run_at` of those that were moved."""
    moved = jobs.where("moved").select("id", _earliest().alias("earliest"))
    later = (
        _started(attempts)
        .join(moved, on=[F.col("job") == F.col("id"), F.col("started") >= F.col("earliest")])
        .groupBy("id")
        .agg(F.min("started").alias("later"))
    )
    return (
        jobs.join(later, on="id", how="left").withColumn("first", F.coalesce("first", "later")).drop("later")
    )


def with_wait(jobs: DataFrame) -> DataFrame:
    """Return jobs with `began`, the start of the first attempt, and `waited`, the seconds from `run_at` to it.

    If the lake lacks the attempts, the claim of a job that ended with its first attempt is used. Both are null if a job
    never started, for example because it was cancelled.
    """
    began = F.coalesce("first", "claimed")
    return (
        jobs.withColumn("began", began)
        .withColumn("waited", seconds_between(F.col("run_at"), began))
        .drop("first", "claimed", "moved")
    )


def measured_jobs(jobs: DataFrame, attempts: DataFrame) -> DataFrame:
    """Return jobs with their start and their wait."""
    first = with_first_start(jobs, attempts)
    return with_wait(with_later_start(first, attempts))


def _started(attempts: DataFrame) -> DataFrame:
    known = F.col("started").isNotNull() & (F.col("outcome").isNull() | (F.col("outcome") != "released"))
    return attempts.where(known).select("job", "attempt", "started")


def _earliest() -> Column:
    return F.col("run_at") - F.expr(CLOCK_TOLERANCE)


def _name(column: str) -> Column:
    return F.coalesce(F.col(column), F.lit("")).alias(column)
