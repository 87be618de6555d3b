"""When jobs fell due, minute by minute, and how much work they brought: the basis of the advice on capacity."""

import numpy as np
import pandas as pd
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from minutehand_pipeline.report.buckets import percentiles
from minutehand_pipeline.report.cost import billed
from minutehand_pipeline.report.throughput import counted_attempts
from minutehand_pipeline.report.window import Window
from minutehand_pipeline.report.workload import Numbers, Workload

DEFAULT_MEMORY_MB = 128.0
PEAKS = 20


def work(attempts: DataFrame) -> DataFrame:
    """Return the work of each day, queue and kind: its attempts, their seconds, memory and billed time."""
    return attempts.groupBy("day", "queue", "kind").agg(
        *counted_attempts(),
        *billed(),
        F.coalesce(F.sum("ran"), F.lit(0.0)).alias("ran"),
        F.count("ran").alias("tries"),
        F.coalesce(F.sum("memory_mb"), F.lit(0)).cast("double").alias("memory"),
        F.count("memory_mb").alias("with_memory"),
    )


def arrivals_by_minute(jobs: DataFrame, attempts: DataFrame) -> DataFrame:
    """Return the minutes in which started jobs fell due: the number of jobs, and the work that they brought.

    The work is the mean of the kind on the day on which the job ended, in seconds of one worker. Divided by 60, it is
    the number of workers that the minute's jobs keep busy, by Little's law.
    """
    names = ["day", "queue", "kind"]
    due = (
        jobs.where(F.col("began").isNotNull() & F.col("run_at").isNotNull())
        .groupBy(*names, F.date_trunc("minute", "run_at").alias("minute"))
        .agg(F.count("*").alias("jobs"))
    )
    return (
        due.join(F.broadcast(_work_by_kind(jobs, attempts)), on=names, how="inner")
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


def _work_by_kind(jobs: DataFrame, attempts: DataFrame) -> DataFrame:
    """Return each day's mean run time in seconds, and mean number of attempts, of a job of each queue and kind."""
    names = ["day", "queue", "kind"]
    ran = attempts.groupBy(*names).agg(F.sum("ran").alias("ran"), F.count("ran").alias("tries"))
    counted = jobs.groupBy(*names).agg(F.count("*").alias("ended"))
    return counted.join(ran, on=names, how="left").select(
        *names,
        F.coalesce(F.col("ran") / F.col("ended"), F.lit(0.0)).alias("work"),
        F.coalesce(F.col("tries") / F.col("ended"), F.lit(0.0)).alias("tries"),
    )


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
