"""How many jobs ended in each hour and on each day, and how often they were retried."""

import pandas as pd
from pyspark.sql import Column
from pyspark.sql import functions as F

from minutehand_pipeline.report.lateness import count_late

STATES = ("done", "dead", "expired", "cancelled")
ENDED = ("jobs", *STATES)
# Outcomes of attempts that do not use an attempt of the job.
UNCOUNTED = {"snoozes": "snoozed", "released": "released"}


def counted_jobs(objective: float) -> list[Column]:
    """Return the number of jobs that ended, by state, of retried and of late ones, as aggregates."""
    return [
        F.count("*").alias("jobs"),
        *(F.count_if(F.col("state") == state).alias(state) for state in STATES),
        *count_late(objective),
        F.count_if(F.col("attempts") > 0).alias("tried"),
        F.count_if(F.col("attempts") > 1).alias("retried"),
        F.coalesce(F.max("attempts"), F.lit(0)).alias("most"),
    ]


def counted_attempts() -> list[Column]:
    """Return the number of attempts and retries, and of those that ended otherwise, as aggregates.

    A retry is any attempt after the first, except snoozed and released ones.
    """
    counted = ~F.col("outcome").isin(*UNCOUNTED.values())
    return [
        F.count_if(counted).alias("attempts"),
        F.count_if(counted & (F.col("attempt") > 1)).alias("retries"),
        F.count_if(F.col("outcome") == "lapsed").alias("lapsed"),
        *(F.count_if(F.col("outcome") == outcome).alias(name) for name, outcome in UNCOUNTED.items()),
    ]


def by_hour(ended: pd.DataFrame) -> pd.DataFrame:
    """Return how many jobs of each queue and kind ended in each UTC hour, by state."""
    return ended.sort_values(["hour", "queue", "kind"])


def by_day(ended: pd.DataFrame) -> pd.DataFrame:
    """Return how many jobs of each queue and kind ended on each UTC day, by state."""
    return ended.groupby(["day", "queue", "kind"])[[*ENDED]].sum().reset_index()


def retries(ended: pd.DataFrame, work: pd.DataFrame) -> pd.DataFrame:
    """Return how often the jobs of each queue and kind that ended were retried, and what their attempts were."""
    names = ["queue", "kind"]
    of_jobs = ended.groupby(names).agg({"tried": "sum", "retried": "sum", "most": "max"})
    of_attempts = work.groupby(names)[["attempts", "retries", "lapsed", *UNCOUNTED]].sum()
    found = of_jobs.join(of_attempts, how="outer").fillna(0).rename(columns={"tried": "jobs"}).reset_index()
    found["share"] = found["retried"] / found["jobs"].where(found["jobs"] > 0)
    tried = found[(found["jobs"] > 0) | (found["attempts"] > 0)]
    return tried.sort_values(["retries", *names], ascending=[False, True, True])
