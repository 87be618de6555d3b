"""The cost of run time on Lambda: billed milliseconds times memory, and requests."""

import pandas as pd
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from minutehand_pipeline.prices import Prices

MEASURES = ["requests", "billed_ms", "gb_seconds", "cost"]
# Outcomes that end a job.
FINAL = ("done", "dead", "cancelled")


def on_lambda() -> Column:
    """Whether an attempt ran on Lambda to its end, which is what costs are computed for."""
    return F.col("memory_mb").isNotNull() & F.col("ran").isNotNull()


def billed() -> list[Column]:
    """Return the attempts on Lambda, those that ended a job, milliseconds and gigabyte-seconds, as aggregates.

    The run time is rounded up to milliseconds. Cold starts and the time between a chunk's attempts are not included,
    so the cost is slightly less than the bill.
    """
    # Rounded, because 2.007 s times 1000 is more than 2007 in floating point.
    milliseconds = F.ceil(F.round(F.col("ran") * 1e6) / 1000)
    gigabytes = F.col("memory_mb") / 1024
    sums = {"billed_ms": milliseconds.cast("double"), "gb_seconds": milliseconds / 1000 * gigabytes}
    return [
        F.count_if(on_lambda()).alias("on_lambda"),
        F.count_if(on_lambda() & F.col("outcome").isin(*FINAL)).alias("ended_jobs"),
        *(
            F.coalesce(F.sum(F.when(on_lambda(), value)), F.lit(0.0)).alias(name)
            for name, value in sums.items()
        ),
    ]


def requests(attempts: DataFrame) -> DataFrame:
    """Return the requests of each day, queue and kind. Attempts of one invocation share a request.

    They share it if they ended on the same day, so that days can be added.
    """
    invocation = Window.partitionBy("day", "invocation")
    return (
        attempts.where(on_lambda())
        .select(
            "day",
            "queue",
            "kind",
            F.coalesce("request", F.xxhash64("job", "attempt", "started")).alias("invocation"),
        )
        .withColumn("share", 1 / F.count("*").over(invocation))
        .groupBy("day", "queue", "kind")
        .agg(F.sum("share").alias("requests"))
    )


def priced(work: pd.DataFrame, requests: pd.DataFrame, prices: Prices, architecture: str) -> pd.DataFrame:
    """Return each day's work by queue and kind with its requests and cost."""
    found = work.merge(requests, on=["day", "queue", "kind"], how="left").fillna({"requests": 0.0})
    found["cost"] = found["gb_seconds"] * prices.gb_second[architecture] + found["requests"] * prices.request
    return found


def costs(bills: pd.DataFrame) -> pd.DataFrame:
    """Return the cost of each kind and its share of the total, highest first."""
    columns = ["ended_jobs", "on_lambda", *MEASURES]
    found = bills[bills["on_lambda"] > 0].groupby("kind")[columns].sum().reset_index()
    found = found.rename(columns={"ended_jobs": "jobs", "on_lambda": "attempts"})
    total = found["cost"].sum()
    found["share"] = found["cost"] / total if total else None
    found["per_thousand"] = found["cost"] / found["jobs"].where(found["jobs"] > 0) * 1000
    return found.sort_values(["cost", "kind"], ascending=[False, True])
