"""Convert the lake's finished jobs and attempts to arrivals, and summarize what was recorded."""

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
)

PERCENTILES = (0.5, 0.9, 0.95, 0.99)
# Accuracy of percentile_approx: the rank is off by at most 1 / ACCURACY.
ACCURACY = 10_000

# The columns of arrivals, and what was recorded of each job.
RECORDED = T.StructType(
    [
        *SCHEMA.fields,
        T.StructField("state", T.StringType()),
        T.StructField("began", T.DoubleType()),  # start of the first attempt
        T.StructField("gb_seconds", T.DoubleType()),  # of attempts only
    ]
)


def arrivals(jobs: DataFrame, attempts: DataFrame) -> DataFrame:
    """Return one row for each finished job, with its attempts in order.

    `jobs` and `attempts` have the columns of the lake's tables. A job that finished several times, because it was
    retried by an operator, counts with its last end. Jobs without an attempt in the lake are left out.
    """
    return (
        jobs.transform(latest)
        .join(attempts.transform(_by_job), on="id", how="inner")
        .withColumn("known", F.coalesce("enqueued", "run_at", "started").cast("double"))
        .withColumn("due", F.greatest("known", F.coalesce("run_at", "enqueued", "started").cast("double")))
        .withColumn("outcomes", _outcomes())
        .withColumn("gaps", _gaps())
        .select(
            "known",
            "due",
            F.coalesce("queue", F.lit("default")).alias("queue"),
            "kind",
            "key",
            "group",
            "tenant",
            "batch",
            F.get_json_object("payload", "$.batch.id").alias("follows"),
            F.coalesce("priority", F.lit(5)).alias("priority"),
            F.xxhash64("id").alias("salt"),
            F.coalesce("max_attempts", F.lit(8)).alias("max_attempts"),
            "timeout",
            "retry",
            F.array_max(_each_recorded("memory_mb")).alias("memory_mb"),
            _each_recorded("run").alias("runs"),
            "outcomes",
            "gaps",
            "state",
            F.col("started").cast("double").alias("began"),
            F.aggregate(_each_recorded("gb_seconds"), F.lit(0.0), lambda sum, each: sum + each).alias(
                "gb_seconds"
            ),
        )
    )


def latest(jobs: DataFrame) -> DataFrame:
    """Return each job once, with its last end."""
    columns = [
        "enqueued",
        "run_at",
        "queue",
        "kind",
        "key",
        "group",
        "tenant",
        "batch",
        "payload",
        "priority",
        "max_attempts",
        "timeout",
        "retry",
        "state",
    ]
    return (
        jobs.groupBy("id")
        .agg(F.max_by(F.struct(*columns), F.col("deleted")).alias("job"))
        .select("id", *(F.col("job")[name].alias(name) for name in columns))
    )


def recorded(arrived: DataFrame) -> DataFrame:
    """Return one row that summarizes the history. It has nulls and zeros if the history is empty."""
    late = F.greatest(F.col("began") - F.col("due"), F.lit(0.0))
    percentiles = F.percentile_approx(late, list(PERCENTILES), ACCURACY)
    return arrived.agg(
        F.count("*").alias("jobs"),
        F.count_if(F.col("state") == "done").alias("done"),
        F.count_if(F.col("state") == "dead").alias("dead"),
        F.count_if(F.col("state").isin("cancelled", "expired")).alias("cancelled"),
        F.coalesce(F.sum(F.size("runs")), F.lit(0)).alias("attempts"),
        F.coalesce(F.sum("gb_seconds"), F.lit(0.0)).alias("gb_seconds"),
        F.avg(late).alias("late_mean"),
        percentiles.alias("percentiles"),
        F.max(late).alias("late_max"),
        F.min("due").alias("since"),
        F.max("due").alias("until"),
    )


def invocations(attempts: DataFrame) -> DataFrame:
    """Return the number of Lambda requests of the attempts, or 0 if none was recorded."""
    return attempts.agg(F.count_distinct("request").alias("invocations"))


def _by_job(attempts: DataFrame) -> DataFrame:
    """Return a job's attempts as an array, in order. Overlapping attempts are not adjusted."""
    seconds = F.col("ended").cast("double") - F.col("started").cast("double")
    lapsed = (F.col("outcome") == "lapsed") | F.col("ended").isNull()
    run = F.when(lapsed, 0.0).otherwise(F.greatest(seconds, F.lit(0.0)))
    memory = F.coalesce("memory_mb", F.lit(MEMORY_MB))
    attempt = F.struct(
        "started",
        F.coalesce("attempt", F.lit(0)).alias("attempt"),
        "ended",
        run.alias("run"),
        "memory_mb",
        F.when(lapsed, "lapsed").otherwise(F.col("outcome")).alias("outcome"),
        (run * memory / F.lit(1024)).alias("gb_seconds"),
    )
    return (
        attempts.where(F.col("started").isNotNull())
        .groupBy(F.col("job").alias("id"))
        .agg(F.array_sort(F.collect_list(attempt)).alias("recorded"))
        .withColumn("started", F.col("recorded")[0]["started"])
    )


def _each_recorded(name: str) -> Column:
    return F.transform("recorded", lambda attempt: attempt[name])


def _outcomes() -> Column:
    """Return the outcome of each attempt. The last attempt has the outcome of the job."""
    last = F.size("recorded") - 1

    def code(attempt: Column, index: Column) -> Column:
        outcome = attempt["outcome"]
        exhausted = attempt["attempt"] >= F.coalesce("max_attempts", F.lit(8))
        by_attempt = (
            F.when(outcome == "lapsed", LAPSED)
            .when(outcome == "retrying", FAILED)
            .when(outcome.isin("snoozed", "released"), BACK)
            .when(outcome == "dead", F.when(exhausted, FAILED).otherwise(FINAL))
            .when(index < last, BACK)
            .otherwise(CANCELLED)
        )
        by_job = F.when(F.col("state") == "done", DONE).when(
            F.col("state").isin("cancelled", "expired"), CANCELLED
        )
        return F.when(index == last, F.coalesce(by_job, by_attempt)).otherwise(by_attempt)

    return F.transform("recorded", code)


def _gaps() -> Column:
    """Return the seconds from the end of each attempt to the start of the next."""

    def gap(attempt: Column, index: Column) -> Column:
        following = F.get("recorded", index + 1)["started"].cast("double")
        end = F.coalesce(attempt["ended"], attempt["started"]).cast("double")
        return F.coalesce(F.greatest(following - end, F.lit(0.0)), F.lit(0.0))

    return F.transform("recorded", gap)
