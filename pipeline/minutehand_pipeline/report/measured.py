"""What the report measures of a job and of an attempt: how long it waited, how long it ran."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

CLOCKS = "interval 10 milliseconds"  # that the clocks of a database and of its replacement may be apart


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


def starts(attempts: DataFrame) -> DataFrame:
    """Return when each job was begun, in order: the `starts` of its attempts that were not given back."""
    return (
        attempts.where(F.col("started").isNotNull())
        .where(F.col("outcome").isNull() | (F.col("outcome") != "released"))
        .groupBy("job")
        .agg(F.array_sort(F.collect_list(F.struct("started", "attempt"))).alias("starts"))
    )


def measured_jobs(jobs: DataFrame, starts: DataFrame) -> DataFrame:
    """Return jobs with `begun`, when the first attempt started, and `waited`, the seconds until then from `run_at`.

    Where the attempts are not in the lake, a job that ended with its first attempt has it by its claim. A job that
    was never begun, such as one that was cancelled, has waited for nothing: null.
    """
    by_claim = F.when(F.col("attempts") == 1, F.col("claimed"))
    begun = F.coalesce(_begun(), by_claim)
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


def _begun() -> Column:
    """Return the first of the starts since `run_at`, if it is known to be that: it has the number 1, or follows one.

    What was before is of a job that has been replaced since, or moved: nobody waited for it any more.
    """
    asked = F.col("run_at") - F.expr(CLOCKS)
    since = F.filter("starts", lambda start: F.col("run_at").isNull() | (start["started"] >= asked))
    first = F.get(since, F.lit(0))
    follows = F.size(since) < F.size("starts")
    return F.when((first["attempt"] == 1) | follows, first["started"])


def _named(column: str) -> Column:
    return F.coalesce(F.col(column), F.lit("")).alias(column)
