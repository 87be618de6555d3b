"""Percentiles from histograms of days are close to the exact ones."""

from datetime import date

import numpy as np
import pandas as pd
import pytest
from pyspark.sql import SparkSession

from minutehand_pipeline.report.buckets import SHARES, bucket, in_bucket, percentiles
from minutehand_pipeline.report.counting import BUCKET, histograms
from minutehand_pipeline.report.durations import durations

pytestmark = pytest.mark.spark_floor


def test_percentiles_are_at_most_a_hundredth_above_the_exact(spark: SparkSession) -> None:
    waits = np.random.default_rng(5).lognormal(1, 2, 60_000)

    rows = durations(histogram(spark, list(waits))).to_dict("records")

    exact = np.sort(waits)
    assert len(rows) == 3 and {row["count"] for row in rows} == {60_000}
    for row in rows:
        assert row["most"] == pytest.approx(exact[-1])
        for name, share in SHARES.items():
            least = exact[round(len(exact) * share) - 1]
            assert least <= row[name] <= least * 1.01 and row[name] in exact, name


def test_few_durations_have_exact_percentiles(spark: SparkSession) -> None:
    waits = [0.0, 1.0, 2.0, 3.0]

    found = percentiles(histogram(spark, waits), ["what"])

    assert found[["count", "p50", "p90", "most"]].values.tolist() == [[4, 1.0, 3.0, 3.0]]


def histogram(spark: SparkSession, waits: list[float]) -> pd.DataFrame:
    """Return the histograms of waits on three days."""
    rows = [(date(2026, 3, 29 + n % 3), "default", "email", float(wait)) for n, wait in enumerate(waits)]
    jobs = spark.createDataFrame(rows, "day date, queue string, kind string, waited double")
    found = jobs.withColumn("bucket", bucket("waited")).groupBy(*BUCKET).agg(*in_bucket("waited")).toArrow()
    return histograms(found, found.slice(0, 0)).to_pandas()
