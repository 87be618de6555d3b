"""Whose jobs used the workers, and who waited meanwhile.

All queues share one capacity, so that who runs keeps others waiting. In every minute the waiting of a tenant's jobs
is laid to the tenants whose attempts ran in that minute, each in proportion to its run time then; what is laid to
others is `others_waited`. It is an attribution and no proof: a tenant alone at its workers is laid the wait of all who
come, also when they wait for a tick. The two measures, the load that one puts on what is shared and the slowdown that
others see, are those of Mace et al., "Retro: Targeted Resource Management in Multi-tenant Distributed Systems"
(NSDI 2015); the minute and the proportion are ours.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

TOP = 50
LONGEST_WAIT = 60  # minutes: of a longer wait only the last hour is laid to anybody
LONGEST_RUN = 24 * 60  # a job's timeout is a day at most


def tenants(jobs: DataFrame, attempts: DataFrame) -> DataFrame:
    """Return each tenant's share of jobs, of run time and of the others' wait; '' are the jobs without a tenant."""
    waits = jobs.groupBy("tenant").agg(F.count("*").alias("jobs"), F.sum("waited").alias("waited"))
    runs = attempts.groupBy("tenant").agg(F.sum("ran").alias("ran"))
    whose = waits.join(runs, on="tenant", how="full").join(
        kept_waiting(jobs, attempts), on="tenant", how="left"
    )
    measures = ("jobs", "ran", "waited", "others_waited")
    filled = whose.fillna(0, list(measures))
    totals = filled.agg(*(F.sum(name).alias(f"all_{name}") for name in measures))
    return (
        filled.join(totals, how="cross")
        .withColumns({f"{name}_share": F.try_divide(name, f"all_{name}") for name in measures})
        .orderBy(F.desc("others_waited"), F.desc("ran"), "tenant")
        .limit(TOP)
    )


def kept_waiting(jobs: DataFrame, attempts: DataFrame) -> DataFrame:
    """Return for how many seconds others waited on each tenant, as this module's first lines say."""
    runs = attempts.select(
        "tenant", F.col("started").alias("since"), F.col("ended").alias("until"), *_as("ran")
    )
    waits = jobs.select(
        "tenant", F.col("run_at").alias("since"), F.col("begun").alias("until"), *_as("waited")
    )
    minutes = by_minute(runs, LONGEST_RUN).unionByName(by_minute(waits, LONGEST_WAIT))
    others = F.col("all_waited") - F.col("waited")
    return (
        minutes.groupBy("minute", "tenant")
        .agg(F.sum("ran").alias("ran"), F.sum("waited").alias("waited"))
        .withColumn("all_ran", F.expr("sum(ran) over (partition by minute)"))
        .withColumn("all_waited", F.expr("sum(waited) over (partition by minute)"))
        .where("ran > 0")
        .groupBy("tenant")
        .agg(F.sum(others * F.col("ran") / F.col("all_ran")).alias("others_waited"))
    )


def by_minute(spans: DataFrame, longest: int) -> DataFrame:
    """Return the seconds of each span that lie in each minute; of one longer than so many minutes, the last ones.

    A span is from `since` to `until`, and its part of a minute goes to `ran` or `waited`, whichever it is.
    """
    begin = F.greatest(F.col("since"), F.col("until") - F.make_dt_interval(mins=F.lit(longest)))
    minutes = F.sequence(
        F.date_trunc("minute", "begin"), F.date_trunc("minute", "until"), F.expr("interval 1 minute")
    )
    low = F.greatest(F.unix_micros("minute"), F.unix_micros("begin"))
    high = F.least(F.unix_micros("minute") + 60_000_000, F.unix_micros("until"))
    return (
        spans.where("since < until")
        .withColumn("begin", begin)
        .withColumn("minute", F.explode(minutes))
        .withColumn("seconds", (high - low) / 1e6)
        .select(
            "minute", "tenant", *((F.col(name) * F.col("seconds")).alias(name) for name in ("ran", "waited"))
        )
    )


def _as(what: str) -> list[Column]:
    return [F.lit(float(name == what)).alias(name) for name in ("ran", "waited")]
