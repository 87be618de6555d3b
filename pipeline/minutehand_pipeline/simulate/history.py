"""History: the lake's finished jobs and their attempts become arrivals, and what was recorded of them is summed up."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from minutehand_pipeline.simulate.arrivals import (
    BACK,
    CANCELLED,
    DONE,
    FAILED,
    FINAL,
    LAPSED,
    MEMORY_MB,
    SCHEMA,
)  # fmt: skip

PERCENTILES = (0.5, 0.9, 0.95, 0.99)
FINE = 10_000  # of percentile_approx: its rank is right to one in so many

# Beside the arrivals' columns: how it really went.
RECORDED = T.StructType(
    [
        *SCHEMA.fields,
        T.StructField("state", T.StringType()),
        T.StructField("began", T.DoubleType()),  # when the first attempt did
        T.StructField("gb_seconds", T.DoubleType()),  # of the attempts alone
    ]
)


def arrivals(jobs: DataFrame, attempts: DataFrame) -> DataFrame:
    """Return one row for each finished job that was attempted, with its attempts in order.

    `jobs` and `attempts` have the columns of the lake's tables. A job that is there twice, since somebody brought it
    back after its end, counts as it ended last. Jobs of which no attempt was kept are left out.
    """
    return (
        jobs.transform(latest)
        .join(attempts.transform(_by_job), on="id", how="inner")
        .withColumn("known", F.coalesce("enqueued", "run_at", "started").cast("double"))
        .withColumn("due", F.greatest("known", F.coalesce("run_at", "enqueued", "started").cast("double")))
        .withColumn("outcomes", _outcomes())
        .withColumn("gaps", _gaps())
        .select(
            "known", "due", F.coalesce("queue", F.lit("default")).alias("queue"), "kind", "key",
            F.coalesce("priority", F.lit(5)).alias("priority"), F.xxhash64("id").alias("die"),
            F.coalesce("max_attempts", F.lit(8)).alias("max_attempts"), "timeout", "retry",
            F.array_max(F.transform("played", lambda attempt: attempt["memory_mb"])).alias("memory_mb"),
            F.transform("played", lambda attempt: attempt["run"]).alias("runs"), "outcomes", "gaps",
            "state", F.col("started").cast("double").alias("began"),
            F.aggregate("played", F.lit(0.0), lambda sum, attempt: sum + attempt["gb_seconds"]).alias("gb_seconds"),
        )
    )  # fmt: skip


def latest(jobs: DataFrame) -> DataFrame:
    """Return each job once, as it ended last."""
    kept = [
        "enqueued",
        "run_at",
        "queue",
        "kind",
        "key",
        "priority",
        "max_attempts",
        "timeout",
        "retry",
        "state",
    ]
    return (
        jobs.groupBy("id")
        .agg(F.max_by(F.struct(*kept), F.col("deleted")).alias("job"))
        .select("id", *(F.col("job")[name].alias(name) for name in kept))
    )


def recorded(arrived: DataFrame) -> DataFrame:
    """Return one row that says how it really went; of an empty history, one of nulls and zeros."""
    late = F.greatest(F.col("began") - F.col("due"), F.lit(0.0))
    percentiles = F.percentile_approx(late, list(PERCENTILES), FINE)
    return arrived.agg(
        F.count("*").alias("jobs"),
        F.count_if(F.col("state") == "done").alias("done"),
        F.count_if(F.col("state") == "dead").alias("dead"),
        F.count_if(F.col("state") == "cancelled").alias("cancelled"),
        F.coalesce(F.sum(F.size("runs")), F.lit(0)).alias("attempts"),
        F.coalesce(F.sum("gb_seconds"), F.lit(0.0)).alias("gb_seconds"),
        F.avg(late).alias("late_mean"),
        percentiles.alias("percentiles"),
        F.max(late).alias("late_max"),
        F.min("known").alias("since"),
        F.max("due").alias("until"),
    )


def invocations(attempts: DataFrame) -> DataFrame:
    """Return how many of Lambda's requests the attempts were made in; 0 where none was kept."""
    return attempts.agg(F.count_distinct("request").alias("invocations"))


def _by_job(attempts: DataFrame) -> DataFrame:
    """Return a job's attempts as an array, the first one first; one that overlaps another counts as if alone."""
    seconds = F.col("ended").cast("double") - F.col("started").cast("double")
    lapsed = (F.col("outcome") == "lapsed") | F.col("ended").isNull()
    run = F.when(lapsed, 0.0).otherwise(F.greatest(seconds, F.lit(0.0)))
    memory = F.coalesce("memory_mb", F.lit(MEMORY_MB))
    told = F.struct(
        "started", F.coalesce("attempt", F.lit(0)).alias("attempt"), "ended", run.alias("run"), "memory_mb",
        F.when(lapsed, "lapsed").otherwise(F.col("outcome")).alias("outcome"),
        (run * memory / F.lit(1024)).alias("gb_seconds"),
    )  # fmt: skip
    return (
        attempts.where(F.col("started").isNotNull())
        .groupBy(F.col("job").alias("id"))
        .agg(F.array_sort(F.collect_list(told)).alias("played"))
        .withColumn("started", F.col("played")[0]["started"])
    )


def _outcomes() -> Column:
    """Return what became of each attempt; the last one came to what the job came to."""
    last = F.size("played") - 1

    def outcome(attempt: Column, place: Column) -> Column:
        own = attempt["outcome"]
        exhausted = attempt["attempt"] >= F.coalesce("max_attempts", F.lit(8))
        code = (
            F.when(own == "lapsed", LAPSED)
            .when(own == "retrying", FAILED)
            .when(own.isin("snoozed", "released"), BACK)
            .when(own == "dead", F.when(exhausted, FAILED).otherwise(FINAL))
            .when(place < last, BACK)
            .otherwise(CANCELLED)
        )
        ended = F.when(F.col("state") == "done", DONE).when(F.col("state") == "cancelled", CANCELLED)
        return F.when(place == last, F.coalesce(ended, code)).otherwise(code)

    return F.transform("played", outcome)


def _gaps() -> Column:
    """Return the seconds from each attempt's end to the next one's start."""

    def gap(attempt: Column, place: Column) -> Column:
        following = F.get("played", place + 1)["started"].cast("double")
        own = F.coalesce(attempt["ended"], attempt["started"]).cast("double")
        return F.coalesce(F.greatest(following - own, F.lit(0.0)), F.lit(0.0))

    return F.transform("played", gap)
