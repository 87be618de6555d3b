"""Errors of dead jobs, grouped by a fingerprint of type and message without the parts that vary."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from minutehand_pipeline.report.redaction import MAX_LENGTH, redact

TOP = 50
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


def failures(jobs: DataFrame, attempts: DataFrame) -> DataFrame:
    """Return the errors with the number of jobs that died of them and of attempts that failed, most frequent first.

    `example` is the last job that died of it; `kinds` has up to five kinds.
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
