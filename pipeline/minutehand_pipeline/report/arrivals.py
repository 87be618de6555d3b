"""When jobs fell due, minute by minute, and how much work they brought: the basis of the advice on capacity."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from minutehand_pipeline.report.buckets import percentiles
from minutehand_pipeline.report.cost import billed
from minutehand_pipeline.report.throughput import counted_attempts
from minutehand_pipeline.report.window import Window
from minutehand_pipeline.report.workload import Numbers, Workload

DEFAULT_MEMORY_MB = 128.0
PEAKS = 20
NAMES = ("day", "queue", "kind")


def summed_work() -> list[Column]:
    """Return the number of attempts, their seconds, memory and billed time, as aggregates."""
    return [
        *counted_attempts(),
        *billed(),
        F.coalesce(F.sum("ran"), F.lit(0.0)).alias("ran"),
        F.count("ran").alias("tries"),
        F.coalesce(F.sum("memory_mb"), F.lit(0)).cast("double").alias("memory"),
        F.count("memory_mb").alias("with_memory"),
    ]


def work_per_job(ended: pa.Table, work: pa.Table) -> pa.Table:
    """Return each day's mean run time in seconds, and mean number of attempts, of a job of each queue and kind."""
    jobs = ended.group_by([*NAMES]).aggregate([("jobs", "sum")])
    found = jobs.join(work.select([*NAMES, "ran", "tries"]), [*NAMES], join_type="left outer")
    means = {
        name: pc.divide(pc.cast(found[of].fill_null(0), pa.float64()), found["jobs_sum"])
        for name, of in (("work", "ran"), ("tries", "tries"))
    }
    return pa.table({**{name: found[name] for name in NAMES}, **means})


def arrivals_by_minute(jobs: DataFrame, means: DataFrame) -> DataFrame:
    """Return the minutes in which started jobs fell due: the number of jobs, and the work that they brought.

    The work is the mean of the kind on the day on which the job ended, in seconds of one worker; `means` has the rows
    of `work_per_job`. Divided by 60, it is the number of workers that the minute's jobs keep busy, by Little's law.
    """
    due = (
        jobs.where(F.col("began").isNotNull() & F.col("run_at").isNotNull())
        .groupBy(*NAMES, F.date_trunc("minute", "run_at").alias("minute"))
        .agg(F.count("*").alias("jobs"))
    )
    return (
        due.join(F.broadcast(means), on=[*NAMES], how="inner")
        .groupBy("day", "minute")
        .agg(
            F.sum("jobs").alias("jobs"),
            F.sum(F.col("jobs") * F.col("work")).alias("work"),
            F.sum(F.col("jobs") * F.col("tries")).alias("attempts"),
        )
    )


def peaks(arrivals: pd.DataFrame) -> pd.DataFrame:
    """Return the minutes with the most work."""
    found = arrivals.groupby("minute")[["jobs", "work", "attempts"]].sum().reset_index()
    ordered = found.sort_values(["work", "minute"], ascending=[False, True])
    return ordered.assign(busy=ordered["work"] / 60).head(PEAKS)


def read_workload(
    arrivals: pd.DataFrame, work: pd.DataFrame, histograms: pd.DataFrame, window: Window
) -> Workload:
    """Return the workload of a window. Jobs that fell due before the window are left out."""
    seconds = arrivals["minute"].map(lambda minute: minute.timestamp()).to_numpy(dtype=float)
    places = ((seconds - window.begin.timestamp()) // 60).astype(int)
    inside = (places >= 0) & (places < window.days * 1440)

    def filled(column: str) -> Numbers:
        values = np.zeros(window.days * 1440)
        np.add.at(values, places[inside], arrivals[column].to_numpy(dtype=float)[inside])
        return values

    jobs, tries = filled("jobs"), filled("attempts")
    run, p95, memory = _run_times(work, histograms)
    return Workload(jobs, filled("work"), float(tries.sum() / max(1.0, jobs.sum())), run, p95, memory / 1024)


def _run_times(work: pd.DataFrame, histograms: pd.DataFrame) -> tuple[float, float, float]:
    """Return the mean and the 95th percentile of the attempts' seconds, and their mean memory in megabytes."""
    tries, with_memory = work["tries"].sum(), work["with_memory"].sum()
    found = percentiles(histograms, ["what"])
    p95 = found.loc[found["what"] == "run", "p95"]
    return (
        float(work["ran"].sum() / tries) if tries else 0.0,
        float(p95.iloc[0]) if len(p95) else 0.0,
        float(work["memory"].sum() / with_memory) if with_memory else DEFAULT_MEMORY_MB,
    )
