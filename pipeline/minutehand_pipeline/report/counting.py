"""Count jobs in one pass and attempts in another, each grouped in several ways at the same time.

A pass of its own for each grouping would read, plan and shuffle the same rows again.
"""

from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from minutehand_pipeline.report.arrivals import NAMES, summed_work
from minutehand_pipeline.report.buckets import bucket, in_bucket
from minutehand_pipeline.report.throughput import counted_jobs

Groupings = Mapping[str, Sequence[str]]

DAY = "day"
TENANT = (DAY, "tenant")
BUCKET = (*NAMES, "bucket")
# The groupings of jobs and of attempts, by the part that has their rows.
JOBS: Groupings = {"ended": (DAY, "hour", "queue", "kind"), "histograms": BUCKET, "tenants": TENANT}
ATTEMPTS: Groupings = {"work": NAMES, "histograms": BUCKET, "tenants": TENANT}
# The column that tells the groupings apart.
GROUPING = "grouping"


def count_jobs(jobs: DataFrame, objective: float) -> DataFrame:
    """Return the jobs of each hour, queue and kind, of each bucket of waits, and of each tenant."""
    rows = jobs.select("*", F.date_trunc("hour", "deleted").alias("hour"), bucket("waited").alias("bucket"))
    waited = F.coalesce(F.sum("waited"), F.lit(0.0)).alias("waited")
    return _grouped(rows, JOBS, *counted_jobs(objective), *in_bucket("waited"), waited)


def count_attempts(attempts: DataFrame) -> DataFrame:
    """Return the attempts of each queue and kind, of each bucket of run times, and of each tenant."""
    rows = attempts.select("*", bucket("ran").alias("bucket"))
    return _grouped(rows, ATTEMPTS, *summed_work(), *in_bucket("ran"))


def by_grouping(rows: pa.Table, groupings: Groupings) -> dict[str, pa.Table]:
    """Return the rows of each grouping."""
    return {
        name: rows.filter(pc.equal(rows[GROUPING], _number(names, groupings)))
        for name, names in groupings.items()
    }


def histograms(waits: pa.Table, runs: pa.Table) -> pa.Table:
    """Return the histograms of both, from rows that are grouped by bucket. Rows without a duration are in no bucket."""
    return pa.concat_tables(_histogram(rows, what) for what, rows in (("wait", waits), ("run", runs)))


def _histogram(rows: pa.Table, what: str) -> pa.Table:
    found = rows.filter(rows["bucket"].is_valid())
    columns = {name: found[name] for name in (*BUCKET, "count")}
    return pa.table({**columns, "most": found["longest"], "what": pa.repeat(what, len(found))})


def _grouped(rows: DataFrame, groupings: Groupings, *aggregates: Column) -> DataFrame:
    sets = [list(names) for names in groupings.values()]
    return rows.groupingSets(sets, *_columns(groupings)).agg(F.grouping_id().alias(GROUPING), *aggregates)


def _columns(groupings: Groupings) -> list[str]:
    return list(dict.fromkeys(name for names in groupings.values() for name in names))


def _number(names: Sequence[str], groupings: Groupings) -> int:
    """Return the `grouping_id` of a grouping: a binary number with a 1 for each column that it lacks."""
    return int("".join("01"[name not in names] for name in _columns(groupings)), 2)
