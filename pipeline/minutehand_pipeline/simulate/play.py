"""Play: Spark deals the arrivals out by window, and each window is played under every policy where it lies."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from minutehand_pipeline.simulate import outcome
from minutehand_pipeline.simulate.arrivals import SCHEMA, read_arrivals
from minutehand_pipeline.simulate.engine import Simulation
from minutehand_pipeline.simulate.history import PERCENTILES
from minutehand_pipeline.simulate.policy import Policy
from minutehand_pipeline.simulate.tally import STATES

DAY = 86_400.0
EDGES = (0.1, 1.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 900.0, 3600.0, 21_600.0)  # seconds, of the histogram


@dataclass(frozen=True, kw_only=True)
class Dealt:
    """How a history is dealt out: its span in seconds since 1970, in windows of `length` (None: all of it in one).

    Each window is played with the arrivals of `carry` seconds before and after it, which do not count: what waits from
    longer ago is not there. `slices` has so many tasks share a window's policies.
    """

    since: float
    until: float
    length: float | None = None
    carry: float = 3600.0
    slices: int = 1

    @property
    def tasks(self) -> int:
        """How many tasks play: some more than there are windows, of which chance would else put several in one."""
        windows = 1 if self.length is None else int(self.until // self.length - self.since // self.length) + 1
        return min(1000, 4 * windows * self.slices)

    def window(self, number: int) -> tuple[float, float]:
        """Return a window's bounds."""
        if self.length is None:
            return self.since, self.until
        return max(self.since, number * self.length), min(self.until, (number + 1) * self.length)


def play(arrived: DataFrame, policies: Sequence[Policy], dealt: Dealt, seed: int) -> DataFrame:
    """Return what every policy came to, a row for each window, policy and queue."""
    named = any(policy.limits for policy in policies)
    wanted = [name for name in SCHEMA.names if named or name not in ("kind", "key")]
    return (
        arrived.select(*wanted, F.explode(_windows(dealt)).alias("window"))
        .withColumn("slice", F.explode(F.array(*map(F.lit, range(dealt.slices)))))
        .repartition(
            dealt.tasks, "window", "slice"
        )  # by a number, or Spark would put all that is small in one task
        .groupBy("window", "slice")
        .applyInArrow(player(policies, dealt, seed, named=named), outcome.SCHEMA)
    )


def player(
    policies: Sequence[Policy], dealt: Dealt, seed: int, *, named: bool
) -> Callable[[tuple[Any, ...], pa.Table], pa.Table]:
    """Return the function that plays a window under the policies of a slice."""

    def played(key: tuple[Any, ...], table: pa.Table) -> pa.Table:
        number, own = (part.as_py() for part in key)
        since, until = dealt.window(number)
        jobs = read_arrivals(table, since, until, named=named)
        found = (
            outcome.rows(place, Simulation(policy, jobs, seed).run(), since, until)
            for place, policy in enumerate(policies)
            if place % dealt.slices == own
        )
        return outcome.to_table(chain.from_iterable(found))

    return played


def summed(played: DataFrame, *by: str) -> DataFrame:
    """Return the sums of what was played, by policy and whatever else is said, with the distribution of lateness."""
    by = ("policy", *by)
    counts = ("attempts", "invocations", "cold", "gb_seconds", "ticks", "tick_gb_seconds", "awake_seconds")
    sums = played.groupBy(*by).agg(
        *(F.coalesce(F.sum(name), F.lit(0)).alias(name) for name in (*STATES, *counts)),
        F.max("late_max").alias("late_max"),
        F.sum("late_seconds").alias("late_seconds"),
    )
    return sums.join(played.transform(_distribution, *by), on=list(by), how="left")


def _distribution(played: DataFrame, *by: str) -> DataFrame:
    """Return percentiles of lateness, and how many jobs were no later than each edge."""
    so_far = Window.partitionBy(*by).orderBy("bin").rowsBetween(Window.unboundedPreceding, Window.currentRow)
    seconds = F.when(F.col("bin") == 0, 0.0).otherwise(
        outcome.FINEST * F.pow(F.lit(outcome.WIDER), F.col("bin") - 0.5)
    )
    return (
        played.select(*by, F.explode(F.arrays_zip("bins", "counts")).alias("each"))
        .groupBy(*by, F.col("each.bins").alias("bin"))
        .agg(F.sum("each.counts").alias("jobs"))
        .withColumn("upto", F.sum("jobs").over(so_far))
        .withColumn("all", F.sum("jobs").over(Window.partitionBy(*by)))
        .withColumn("seconds", seconds)
        .groupBy(*by)
        .agg(
            F.array(*(_percentile(share) for share in PERCENTILES)).alias("percentiles"),
            F.max("all").alias("begun"),
            F.array(
                *(F.sum(F.when(F.col("seconds") <= edge, F.col("jobs")).otherwise(0)) for edge in EDGES)
            ).alias("histogram"),
        )
    )


def _percentile(share: float) -> Column:
    return F.min(F.when(F.col("upto") >= F.ceil(F.col("all") * share), F.col("seconds")))


def _windows(dealt: Dealt) -> Column:
    """Return the windows that a job is played in: its own, and those whose carry it is in."""
    if dealt.length is None:
        return F.array(F.lit(0).cast("long"))
    first, last = (int(moment // dealt.length) for moment in (dealt.since, dealt.until))
    near = (F.col("due") + shift for shift in (-dealt.carry, 0.0, dealt.carry))
    numbers = F.array_distinct(F.array(*(F.floor(moment / dealt.length) for moment in near)))
    return F.filter(numbers, lambda number: number.between(first, last))
