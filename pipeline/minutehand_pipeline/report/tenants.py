"""Each tenant's use of the workers, and the waiting of other tenants that is attributed to it.

All queues share one capacity, so running jobs delay waiting jobs. In every minute, the waiting time of a tenant's jobs
is attributed to the other tenants whose attempts ran in that minute, in proportion to their run time; the sum is
`others_waited`. Only jobs and attempts that ended on the same UTC day are compared, so that days can be added. This is
an attribution, not a proof of cause: it also includes waiting for a tick. The two measures, the load on a shared
resource and the slowdown of others, follow Mace et al., "Retro: Targeted Resource Management in Multi-tenant
Distributed Systems" (NSDI 2015).
"""

import pandas as pd
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

TOP = 50
MEASURES = ["jobs", "ran", "waited", "others_waited"]
# Minutes. Only the last hour of a longer wait is attributed; a timeout is at most a day.
MAX_WAIT = 60
MAX_RUN = 24 * 60
MINUTE = 60_000_000  # microseconds


def tenants_by_day(waits: pa.Table, runs: pa.Table, others: pa.Table) -> pa.Table:
    """Return each tenant's jobs, run time, waiting and attributed waiting of each day; '' stands for no tenant.

    `waits` has jobs and their waiting, `runs` the run time of attempts, and `others` the attributed waiting.
    """
    keys = ["day", "tenant"]
    waits, runs = waits.select([*keys, "jobs", "waited"]), runs.select([*keys, "ran"])
    found = waits.join(runs, keys, join_type="full outer").join(others, keys, join_type="left outer")
    return pa.table(
        {name: found[name] if name in keys else found[name].fill_null(0) for name in [*keys, *MEASURES]}
    )


def tenants(by_day: pd.DataFrame) -> pd.DataFrame:
    """Return each tenant's shares of jobs, run time and attributed waiting."""
    found = by_day.groupby("tenant")[MEASURES].sum().reset_index()
    for name in MEASURES:
        total = found[name].sum()
        found[f"{name}_share"] = found[name] / total if total else None
    order = {"others_waited": False, "ran": False, "tenant": True}
    return found.sort_values([*order], ascending=[*order.values()]).head(TOP)


def attribute_waiting(jobs: DataFrame, attempts: DataFrame) -> DataFrame:
    """Return the seconds of other tenants' waiting that are attributed to each tenant on each day."""
    runs = attempts.select(
        "day", "tenant", F.col("started").alias("since"), F.col("ended").alias("until"), *_flags("ran")
    )
    waits = jobs.select(
        "day", "tenant", F.col("run_at").alias("since"), F.col("began").alias("until"), *_flags("waited")
    )
    minutes = by_minute(runs, MAX_RUN).unionByName(by_minute(waits, MAX_WAIT))
    others = F.col("all_waited") - F.col("waited")
    return (
        minutes.groupBy("day", "minute", "tenant")
        .agg(F.sum("ran").alias("ran"), F.sum("waited").alias("waited"))
        .withColumn("all_ran", F.expr("sum(ran) over (partition by day, minute)"))
        .withColumn("all_waited", F.expr("sum(waited) over (partition by day, minute)"))
        .where("ran > 0")
        .groupBy("day", "tenant")
        .agg(F.sum(others * F.col("ran") / F.col("all_ran")).alias("others_waited"))
    )


def by_minute(spans: DataFrame, longest: int) -> DataFrame:
    """Return the seconds of each span in each minute, for at most the last `longest` minutes of the span.

    A span lasts from `since` to `until`; its columns `ran` and `waited` are 1 or 0. `minute` is a number.
    """
    since, until = F.unix_micros("since"), F.unix_micros("until")
    begin = F.greatest(since, until - longest * MINUTE)
    # Integers, because a sequence of times is computed with the calendar, which is slow.
    return (
        spans.where("since < until")
        .select(
            "day",
            "tenant",
            "ran",
            "waited",
            until.alias("end"),
            begin.alias("begin"),
        )
        .withColumn("minute", F.explode(F.sequence(_minute("begin"), _minute("end"))))
        .withColumn("low", F.greatest(F.col("minute") * MINUTE, F.col("begin")))
        .withColumn("high", F.least((F.col("minute") + 1) * MINUTE, F.col("end")))
        .withColumn("seconds", (F.col("high") - F.col("low")) / 1e6)
        .select(
            "day",
            "minute",
            "tenant",
            *((F.col(name) * F.col("seconds")).alias(name) for name in ("ran", "waited")),
        )
    )


def _minute(micros: str) -> Column:
    """Return the number of the minute since 1970."""
    return F.floor(F.col(micros) / MINUTE)


def _flags(what: str) -> list[Column]:
    return [F.lit(float(name == what)).alias(name) for name in ("ran", "waited")]
