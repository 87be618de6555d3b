"""What jobs died of: errors told apart by a fingerprint, their type and their message without what varies."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from minutehand_pipeline.report.redacted import KEPT, redacted

TOP = 50
KINDS = 5


def fingerprinted(frame: DataFrame) -> DataFrame:
    """Return rows with what they failed with: `type`, `message` with placeholders, and `fingerprint`, of both.

    The error is JSON of {type, message, trace}; one that is not has the type `unknown`, one that is missing
    `none kept`. Neither the trace nor a payload is looked at.
    """
    said = F.from_json("error", "type string, message string")
    kind = F.when(F.col("error").isNull(), "none kept").otherwise(F.coalesce(said["type"], F.lit("unknown")))
    message = redacted(F.coalesce(said["message"], F.lit("")))
    return (
        frame.withColumn("type", F.substring(kind, 1, KEPT))
        .withColumn("message", message)
        .withColumn(
            "fingerprint", F.substring(F.md5(F.concat_ws("|", F.col("type"), F.col("message"))), 1, 12)
        )
    )


def failures(jobs: DataFrame, attempts: DataFrame) -> DataFrame:
    """Return the errors of which most jobs died, and how many attempts failed with each, the most deadly first.

    `example` is the last job that died of it, `kinds` are up to five of those it happened to.
    """
    keys = ["fingerprint", "type", "message"]
    deaths = (
        fingerprinted(jobs.where("state = 'dead'"))
        .groupBy(*keys)
        .agg(
            F.count("*").alias("deaths"),
            F.min("deleted").alias("first"),
            F.max("deleted").alias("last"),
            F.max_by("id", "deleted").alias("example"),
            F.slice(F.sort_array(F.collect_set("kind")), 1, KINDS).alias("kinds"),
        )
    )
    failed = (
        fingerprinted(attempts.where(F.col("error").isNotNull()))
        .groupBy(*keys)
        .agg(F.count("*").alias("attempts"))
    )
    return (
        deaths.join(failed, on=keys, how="full")
        .fillna(0, ["deaths", "attempts"])
        .orderBy(F.desc("deaths"), F.desc("attempts"), "fingerprint")
        .limit(TOP)
    )
