"""Errors of dead jobs, grouped by a fingerprint of type and message without the parts that vary."""

import pandas as pd
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from minutehand_pipeline.report.redaction import MAX_LENGTH, redact

TOP = 50
# Of one day. A day with more errors than that has errors of few jobs, which are not counted.
TOP_OF_DAY = 1000
KINDS = 5


def fingerprinted(frame: DataFrame) -> DataFrame:
    """Return rows with the error's `type`, its `message` with placeholders, and the `fingerprint` of both.

    An error is JSON with type, message and trace. The type of invalid JSON is `unknown`, that of a missing error
    `not recorded`. Traces and payloads are not used.
    """
    error = F.from_json("error", "type string, message string")
    kind = F.when(F.col("error").isNull(), "not recorded").otherwise(
        F.coalesce(error["type"], F.lit("unknown"))
    )
    message = redact(F.coalesce(error["message"], F.lit("")))
    return (
        frame.withColumn("type", F.substring(kind, 1, MAX_LENGTH))
        .withColumn("message", message)
        .withColumn(
            "fingerprint", F.substring(F.md5(F.concat_ws("|", F.col("type"), F.col("message"))), 1, 12)
        )
    )


def failures_by_day(jobs: DataFrame, attempts: DataFrame) -> DataFrame:
    """Return each day's errors: the jobs that died of them and the attempts that failed, the most frequent ones.

    `example` is the last job that died of it; `kinds` has up to five kinds.
    """
    dead = jobs.where("state = 'dead'").select("day", "error", "deleted", "id", "kind")
    failed = attempts.where(F.col("error").isNotNull()).select("day", "error")
    kinds = F.slice(F.sort_array(F.collect_set("kind")), 1, KINDS)
    found = (
        fingerprinted(dead.unionByName(failed, allowMissingColumns=True))
        .groupBy("day", "fingerprint", "type", "message")
        .agg(
            F.count("id").alias("deaths"),
            F.count_if(F.col("id").isNull()).alias("attempts"),
            F.min("deleted").alias("first"),
            F.max("deleted").alias("last"),
            F.max_by("id", "deleted").alias("example"),
            F.when(F.count("id") > 0, kinds).alias("kinds"),
        )
    )
    frequent = (F.desc("deaths"), F.desc("attempts"), "fingerprint")
    place = F.row_number().over(Window.partitionBy("day").orderBy(*frequent))
    return found.withColumn("place", place).where(F.col("place") <= TOP_OF_DAY).drop("place")


def failures(by_day: pd.DataFrame) -> pd.DataFrame:
    """Return the errors of all days, most frequent first."""
    ordered = by_day.sort_values("last", na_position="first")
    found = ordered.groupby(["fingerprint", "type", "message"]).agg(
        deaths=("deaths", "sum"),
        attempts=("attempts", "sum"),
        first=("first", "min"),
        last=("last", "max"),
        example=("example", "last"),
        kinds=("kinds", _first_kinds),
    )
    order = {"deaths": False, "attempts": False, "fingerprint": True}
    return found.reset_index().sort_values([*order], ascending=[*order.values()]).head(TOP)


def _first_kinds(each: pd.Series) -> list[str] | None:
    kinds = {kind for some in each if some is not None for kind in some}
    return sorted(kinds)[:KINDS] or None
