"""Split a history into windows with Spark, and simulate each window under every policy."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from minutehand_pipeline.arrow import arrow_schema
from minutehand_pipeline.simulate import measures
from minutehand_pipeline.simulate.arrivals import SCHEMA, read_arrivals
from minutehand_pipeline.simulate.engine import Simulation
from minutehand_pipeline.simulate.history import PERCENTILES
from minutehand_pipeline.simulate.policy import Policy
from minutehand_pipeline.simulate.tally import STATES

DAY = 86_400.0
# Seconds; the upper edges of the histogram.
EDGES = (0.1, 1.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 900.0, 3600.0, 21_600.0)
SUMMED = ("attempts", "invocations", "cold", "gb_seconds", "ticks", "tick_gb_seconds", "awake_seconds")


@dataclass(frozen=True, kw_only=True)
class Split:
    """How a history is split: from `since` to `until`, in seconds since 1970, into windows of `length` (None: one).

    Each window also simulates the arrivals of `carry` seconds before and after it, without counting them. Older
    backlog is not carried over. `slices` is how many tasks share the policies of a window.
    """

    since: float
    until: float
    length: float | None = None
    carry: float = 3600.0
    slices: int = 1

    @property
    def tasks(self) -> int:
        """The number of tasks. There are more than windows, because hashing puts several windows into one task."""
        windows = 1 if self.length is None else int(self.until // self.length - self.since // self.length) + 1
        return min(1000, 4 * windows * self.slices)

    def window(self, number: int) -> tuple[float, float]:
        """Return the bounds of a window."""
        if self.length is None:
            return self.since, self.until
        return max(self.since, number * self.length), min(self.until, (number + 1) * self.length)


def simulate_windows(arrived: DataFrame, policies: Sequence[Policy], split: Split, seed: int) -> DataFrame:
    """Return the measures of every policy, a row for each window, policy and queue."""
    with_names = any(policy.limits for policy in policies)
    columns = [name for name in SCHEMA.names if with_names or name not in ("kind", "key")]
    simulate = window_simulator(policies, split, seed, with_names=with_names)
    return (
        arrived.select(*columns, F.explode(_windows(split)).alias("window"))
        .withColumn("slice", F.explode(F.array(*map(F.lit, range(split.slices)))))
        # With a number of partitions; otherwise Spark would merge small partitions into one task.
        .repartition(split.tasks, "window", "slice")
        .groupBy("window", "slice")
        .applyInArrow(simulate, measures.SCHEMA)
    )


def simulate_idle_windows(
    arrived: DataFrame, policies: Sequence[Policy], split: Split, seed: int
) -> list[tuple[Any, ...]]:
    """Return a row for each policy that sums the windows without arrivals: the dispatcher ticks in these, too.

    All of them are whole, since the first and the last window have jobs, and count like the first one.
    """
    if split.length is None:
        return []
    arriving = arrived.select(F.explode(_windows(split)).alias("window")).distinct().collect()
    busy = {row["window"] for row in arriving}
    first, last = (int(moment // split.length) for moment in (split.since, split.until))
    idle = last - first + 1 - len(busy)
    if not idle:
        return []
    since, until = split.window(next(number for number in range(first, last) if number not in busy))
    nothing = read_arrivals(arrow_schema(SCHEMA).empty_table(), since, until, with_names=False)
    found = []
    for index, policy in enumerate(policies):
        [row] = measures.rows(index, Simulation(policy, nothing, seed).run(), since, until)
        sums = {name: idle * row[name] for name in ("ticks", "tick_gb_seconds", "awake_seconds")}
        found.append(tuple((row | sums).get(name) for name in measures.SCHEMA.names))
    return found


def window_simulator(
    policies: Sequence[Policy], split: Split, seed: int, *, with_names: bool
) -> Callable[[tuple[Any, ...], pa.Table], pa.Table]:
    """Return the function that simulates a window under the policies of a slice."""

    def simulate(key: tuple[Any, ...], table: pa.Table) -> pa.Table:
        number, slice = (part.as_py() for part in key)
        since, until = split.window(number)
        jobs = read_arrivals(table, since, until, with_names=with_names)
        found = (
            measures.rows(index, Simulation(policy, jobs, seed).run(), since, until)
            for index, policy in enumerate(policies)
            if index % split.slices == slice
        )
        return measures.to_table(chain.from_iterable(found))

    return simulate


def sum_windows(measured: DataFrame, *by: str) -> DataFrame:
    """Return the sums of the measures, by policy and further columns, with the distribution of lateness."""
    by = ("policy", *by)
    sums = measured.groupBy(*by).agg(
        *(F.coalesce(F.sum(name), F.lit(0)).alias(name) for name in (*STATES, *SUMMED)),
        F.max("late_max").alias("late_max"),
        F.sum("late_seconds").alias("late_seconds"),
    )
    return sums.join(measured.transform(_distribution, *by), on=list(by), how="left")


def _distribution(measured: DataFrame, *by: str) -> DataFrame:
    """Return percentiles of lateness, and how many jobs were no later than each edge."""
    so_far = Window.partitionBy(*by).orderBy("bin").rowsBetween(Window.unboundedPreceding, Window.currentRow)
    middle = measures.FINEST * F.pow(F.lit(measures.WIDER), F.col("bin") - 0.5)
    up_to = (F.sum(F.when(F.col("seconds") <= edge, F.col("jobs")).otherwise(0)) for edge in EDGES)
    return (
        measured.select(*by, F.explode(F.arrays_zip("bins", "counts")).alias("each"))
        .groupBy(*by, F.col("each.bins").alias("bin"))
        .agg(F.sum("each.counts").alias("jobs"))
        .withColumn("so_far", F.sum("jobs").over(so_far))
        .withColumn("all", F.sum("jobs").over(Window.partitionBy(*by)))
        .withColumn("seconds", F.when(F.col("bin") == 0, 0.0).otherwise(middle))
        .groupBy(*by)
        .agg(
            F.array(*(_percentile(share) for share in PERCENTILES)).alias("percentiles"),
            F.max("all").alias("started"),
            F.array(*up_to).alias("histogram"),
        )
    )


def _percentile(share: float) -> Column:
    return F.min(F.when(F.col("so_far") >= F.ceil(F.col("all") * share), F.col("seconds")))


def _windows(split: Split) -> Column:
    """Return the windows that simulate a job: its own, and those whose carry includes it."""
    if split.length is None:
        return F.array(F.lit(0).cast("long"))
    first, last = (int(moment // split.length) for moment in (split.since, split.until))
    near = (F.col("due") + shift for shift in (-split.carry, 0.0, split.carry))
    numbers = F.array_distinct(F.array(*(F.floor(moment / split.length) for moment in near)))
    return F.filter(numbers, lambda number: number.between(first, last))
