"""How long jobs waited and attempts ran: percentiles over all, by queue, by kind, and day by day."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

SHARES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99}

# A percentile is a value whose rank is at most one part in ten thousand of the rows off the exact one. It was measured
# to be as fast as 1000, and the exact one keeps every distinct value in memory, which with microseconds is all.
ACCURACY = 10_000


def percentiles(column: str, prefix: str = "") -> list[Column]:
    """Return p50, p90, p95 and p99 of a column of seconds as aggregates, each under its name after the prefix."""
    found = F.percentile_approx(column, list(SHARES.values()), ACCURACY)
    return [found[place].alias(f"{prefix}{name}") for place, name in enumerate(SHARES)]


def durations(jobs: DataFrame, attempts: DataFrame) -> DataFrame:
    """Return the waits until the first attempt and the run times of attempts: of all, of each queue, each kind in it.

    A row of all queues has a null queue, one of all kinds a null kind.
    """
    return _spread(jobs, "waited", "wait").unionByName(_spread(attempts, "ran", "run"))


def _spread(frame: DataFrame, column: str, what: str) -> DataFrame:
    return (
        frame.where(F.col(column).isNotNull())
        .rollup("queue", "kind")
        .agg(
            F.lit(what).alias("what"),
            F.count("*").alias("count"),
            *percentiles(column),
            F.max(column).alias("most"),
        )
        .where("count > 0")
    )
