"""Histograms of durations, from which percentiles of any days are computed.

The buckets grow by 1 %, and each knows its greatest value, so histograms can be added, and a percentile is a duration
that occurred, at most 1 % above the exact one. The idea is that of DDSketch (Masson, Rim and Lee, "DDSketch: A Fast and
Fully-Mergeable Quantile Sketch with Relative-Error Guarantees", VLDB 2019).
"""

import math

import numpy as np
import pandas as pd
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

SHARES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99}
GROWTH = 1.01
# The bucket of 0, below that of a microsecond.
ZERO = -10_000


def histogram(frame: DataFrame, column: str, what: str) -> DataFrame:
    """Return the durations of each day, queue and kind: how many are in each bucket, and the greatest of them."""
    return (
        frame.where(F.col(column).isNotNull())
        .groupBy("day", "queue", "kind", _bucket(F.col(column)).alias("bucket"))
        .agg(F.count("*").alias("count"), F.max(column).alias("most"))
        .withColumn("what", F.lit(what))
    )


def percentiles(histograms: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Return the count, the percentiles and the maximum of the durations of each group. Missing names are a group."""
    merged = histograms.groupby([*by, "bucket"], dropna=False).agg({"count": "sum", "most": "max"})
    groups = merged.groupby(level=by, dropna=False)
    below, total = groups["count"].cumsum(), groups["count"].transform("sum")
    found = groups.agg({"count": "sum", "most": "max"})
    for name, share in SHARES.items():
        # Rounded, because 0.95 times 20 may be more than 19 in floating point.
        reached = merged[below >= np.ceil((total * share).round(6))]
        found[name] = reached.groupby(level=by, dropna=False)["most"].first()
    return found.reset_index()


def _bucket(seconds: Column) -> Column:
    place = F.floor(F.log(seconds) / math.log(GROWTH))
    return F.when(seconds > 0, place).otherwise(ZERO).cast("int")
