"""Histograms of durations, from which percentiles of any days are computed.

The buckets grow by 1 %, and each knows its greatest value, so histograms can be added, and a percentile is a duration
that occurred, at most 1 % above the exact one. The idea is that of DDSketch (Masson, Rim and Lee, "DDSketch: A Fast and
Fully-Mergeable Quantile Sketch with Relative-Error Guarantees", VLDB 2019).
"""

import math

import numpy as np
import pandas as pd
from pyspark.sql import Column
from pyspark.sql import functions as F

SHARES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99}
GROWTH = 1.01
# The bucket of 0, below that of a microsecond.
ZERO = -10_000


def bucket(column: str) -> Column:
    """Return the bucket of a duration in seconds, null if there is none."""
    seconds = F.col(column)
    place = F.floor(F.log(seconds) / math.log(GROWTH))
    return F.when(seconds > 0, place).when(seconds.isNotNull(), ZERO).cast("int")


def in_bucket(column: str) -> list[Column]:
    """Return how many durations a bucket has and the longest of them, as aggregates."""
    return [F.count(column).alias("count"), F.max(column).alias("longest")]


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
