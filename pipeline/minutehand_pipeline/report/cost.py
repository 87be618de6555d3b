"""The cost of run time on Lambda: billed milliseconds times memory, and requests."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from minutehand_pipeline.prices import Prices

MEASURES = ("requests", "billed_ms", "gb_seconds", "cost")


def shared_requests(attempts: DataFrame) -> DataFrame:
    """Return the invocations that ran several attempts, and how many each ran. With chunks of one there are none."""
    return (
        attempts.where(_on_lambda() & F.col("request").isNotNull())
        .groupBy("request")
        .agg(F.count("*").alias("chunk"))
        .where("chunk > 1")
    )


def billed(
    attempts: DataFrame, prices: Prices, architecture: str, shared: DataFrame | None = None
) -> DataFrame:
    """Return the attempts with their cost and its parts.

    An attempt costs its run time, rounded up to milliseconds, times its function's memory, and its share of the
    request: attempts of one chunk share an invocation, which `shared` lists. The cost is null for attempts that did not
    run on Lambda, and for those that lapsed or were released. Cold starts and the time between a chunk's attempts are
    not included, so the sum is slightly less than the bill.
    """
    # Rounded, because 2.007 s times 1000 is more than 2007 in floating point.
    microseconds = F.round(F.col("ran") * 1e6)
    milliseconds = F.ceil(microseconds / 1000).cast("double")
    priced = F.col("gb_seconds") * prices.gb_second[architecture] + F.col("requests") * prices.request
    return (
        attempts.join(shared_requests(attempts) if shared is None else shared, on="request", how="left")
        .withColumn("requests", F.when(_on_lambda(), F.lit(1.0) / F.coalesce("chunk", F.lit(1))))
        .withColumn("billed_ms", F.when(_on_lambda(), milliseconds))
        .withColumn("gb_seconds", F.col("billed_ms") / 1000 * F.col("memory_mb") / 1024)
        .withColumn("cost", priced)
        .drop("request", "chunk")
    )


def costs(bills: DataFrame) -> DataFrame:
    """Return the cost of each kind and its share of the total, highest first."""
    by_kind = (
        bills.where(F.col("cost").isNotNull())
        .groupBy("kind")
        .agg(F.count_distinct("job").alias("jobs"), F.count("*").alias("attempts"), *_summed())
    )
    return (
        by_kind.withColumn("share", F.expr("try_divide(cost, sum(cost) over ())"))
        .withColumn("per_thousand", F.col("cost") / F.col("jobs") * 1000)
        .orderBy(F.desc("cost"), "kind")
    )


def _summed() -> list[Column]:
    return [F.sum(name).alias(name) for name in MEASURES]


def _on_lambda() -> Column:
    return F.col("memory_mb").isNotNull() & F.col("ran").isNotNull()
