"""What the jobs' run time cost on Lambda: billed milliseconds times memory, and the requests."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from minutehand_pipeline.prices import Prices

MEASURES = ("requests", "billed_ms", "gb_seconds", "cost")


def billed(attempts: DataFrame, prices: Prices, architecture: str) -> DataFrame:
    """Return the attempts with what each is billed, in the currency of the prices: `cost` and what it is made of.

    An attempt is billed its run time rounded up to the millisecond, times its function's memory, and its part of the
    request: attempts of one chunk share an invocation. What ran elsewhere than on Lambda has no memory, what lapsed or
    was released no run time: these cost null. Start-up and the time between a chunk's attempts are not seen either,
    so that this is a little less than the bill.
    """
    on_lambda = F.col("memory_mb").isNotNull() & F.col("ran").isNotNull()
    invocation = F.coalesce("request", F.concat_ws("/", "job", "attempt", "ended"))
    microseconds = F.round(F.col("ran") * 1e6)  # whole ones: 2.007 s times 1000 is more than 2007
    milliseconds = F.ceil(microseconds / 1000).cast("double")
    priced = F.col("gb_seconds") * prices.gb_second[architecture] + F.col("requests") * prices.request
    return (
        attempts.withColumn("request", invocation)
        .withColumn(
            "mates", F.expr("count(if(memory_mb is not null, ran, null)) over (partition by request)")
        )
        .withColumn("requests", F.when(on_lambda, F.lit(1.0) / F.col("mates")))
        .withColumn("billed_ms", F.when(on_lambda, milliseconds))
        .withColumn("gb_seconds", F.col("billed_ms") / 1000 * F.col("memory_mb") / 1024)
        .withColumn("cost", priced)
        .drop("request", "mates")
    )


def costs(bills: DataFrame) -> DataFrame:
    """Return what each kind cost, the dearest first, and its share of all."""
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
