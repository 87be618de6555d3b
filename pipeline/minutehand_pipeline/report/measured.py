"""Measure how long jobs waited and attempts ran."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from minutehand_pipeline.lake.summaries import LOOK_BACK

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


def measured_jobs(jobs: DataFrame, attempts: DataFrame, earlier: DataFrame | None = None) -> DataFrame:
    """Return jobs with `began`, the start of the first attempt, and `waited`, the seconds from `run_at` to it.

    `attempts` are those of the jobs' days, and `earlier` those of the days before. Both are null if a job never
    started, for example because it was cancelled, or if its first attempt is not known.
    """
    marked = with_claim(named_jobs(jobs), repeated(attempts))
    found = first_starts(
        marked.where("sought"), attempts if earlier is None else attempts.unionByName(earlier)
    )
    return with_wait(marked, found)


def repeated(attempts: DataFrame) -> DataFrame:
    """Return the jobs that had an attempt on a day after which they continued, such as a snooze."""
    again = ~F.coalesce("outcome", F.lit("")).isin("done", "dead", "cancelled", "released")
    return (
        attempts.where(again).select(F.col("job").alias("id"), "day", F.lit(True).alias("again")).distinct()
    )


def named_jobs(jobs: DataFrame) -> DataFrame:
    """Return the columns of jobs that a report needs, with empty strings for missing names."""
    return jobs.select(
        "day",
        "id",
        _name("tenant"),
        _name("queue"),
        _name("kind"),
        "state",
        "run_at",
        "deleted",
        "attempts",
        "claimed",
        "error",
    )


def with_claim(jobs: DataFrame, again: DataFrame) -> DataFrame:
    """Return jobs with `claimed`, their claim if they ended with their first attempt, and `sought`.

    `sought` is false if the claim certainly is the first start: the job fell due on the day on which it ended, and had
    no other attempt.
    """
    claimed = F.when(F.col("attempts") == 1, F.col("claimed"))
    certain = claimed.isNotNull() & F.col("again").isNull() & (F.to_date("run_at") == F.col("day"))
    return (
        jobs.join(again, on=["id", "day"], how="left")
        .withColumn("sought", ~F.coalesce(certain, F.lit(False)))
        .withColumn("claimed", claimed)
        .drop("again")
    )


def first_starts(jobs: DataFrame, attempts: DataFrame) -> DataFrame:
    """Return the `first` start of jobs, from the attempts of the day on which they ended and of some days before.

    A job that was replaced or moved after an attempt started first since `run_at`. Otherwise the start is null unless
    the attempt is known to be the first. Released attempts never started.
    """
    started = F.col("started").isNotNull() & (F.coalesce("outcome", F.lit("")) != "released")
    tried = attempts.where(started).select("job", F.col("day").alias("ended_on"), "attempt", "started")
    wanted = jobs.select("id", "day", (F.col("run_at") - F.expr(CLOCK_TOLERANCE)).alias("earliest"))
    near = F.col("ended_on").between(F.date_sub("day", LOOK_BACK), F.col("day"))
    since = F.when(F.col("started") >= F.col("earliest"), F.col("started"))
    found = (
        wanted.join(tried, on=(F.col("id") == F.col("job")) & near)
        .groupBy("id", "day")
        .agg(
            F.min("started").alias("least"),
            F.min(F.when(F.col("attempt") == 1, F.col("started"))).alias("one"),
            F.min(since).alias("later"),
            F.coalesce(F.bool_or(F.col("started") < F.col("earliest")), F.lit(False)).alias("moved"),
        )
    )
    first = F.when(F.col("moved"), F.col("later")).when(F.col("least") == F.col("one"), F.col("least"))
    return found.select("id", "day", first.alias("first"))


def with_wait(jobs: DataFrame, found: DataFrame) -> DataFrame:
    """Return jobs with their first start, or else their claim, and with their wait."""
    return (
        jobs.join(found, on=["id", "day"], how="left")
        .withColumn("began", F.coalesce("first", "claimed"))
        .withColumn("waited", seconds_between(F.col("run_at"), F.col("began")))
        .drop("first", "claimed", "sought")
    )


def _name(column: str) -> Column:
    return F.coalesce(F.col(column), F.lit("")).alias(column)
