"""What jobs died of: errors told apart by a fingerprint, their type and their message without what varies."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

TOP = 50
KINDS = 5
READ, KEPT = 2000, 300  # of a message so many characters are read, and kept

# What varies from one error to the next of the same cause, in the order in which it is looked for. Each is one native
# expression without nesting, so that a hostile message costs no more than its length.
PLACEHOLDERS = (
    (r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+", "<mail>"),
    (r"[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}", "<uuid>"),
    (r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d([.,]\d+)?)?(Z|[+-]\d\d:?\d\d)?)?", "<time>"),
    (r'"[^"]*"', "<text>"),
    (r"`[^`]*`", "<text>"),
    (r"(^|[\s(\[{=:,])'[^']*'", "$1<text>"),  # not the apostrophe of don't
    (r"\b0[xX][0-9A-Fa-f]+\b", "<hex>"),
    (r"\b(?=[0-9A-Fa-f]*[A-Fa-f])(?=[0-9A-Fa-f]*\d)[0-9A-Fa-f]{8,}\b", "<hex>"),
    (r"\b(?=[A-Za-z_]*\d)(?=\d*[A-Za-z_])\w{8,}\b", "<id>"),
    (r"\d+([.,:]\d+)*", "<number>"),
    (r"\s+", " "),
)


def fingerprinted(frame: DataFrame) -> DataFrame:
    """Return rows with what they failed with: `type`, `message` with placeholders, and `fingerprint`, of both.

    The error is JSON of {type, message, trace}; one that is not has the type `unknown`, one that is missing
    `none kept`. Neither the trace nor a payload is looked at.
    """
    said = F.from_json("error", "type string, message string")
    kind = F.when(F.col("error").isNull(), "none kept").otherwise(F.coalesce(said["type"], F.lit("unknown")))
    message = without_what_varies(F.coalesce(said["message"], F.lit("")))
    return (
        frame.withColumn("type", F.substring(kind, 1, KEPT))
        .withColumn("message", message)
        .withColumn(
            "fingerprint", F.substring(F.md5(F.concat_ws("|", F.col("type"), F.col("message"))), 1, 12)
        )
    )


def without_what_varies(message: Column) -> Column:
    """Return a message with placeholders for mail addresses, ids, moments, quoted texts, hex and numbers."""
    for pattern, placeholder in PLACEHOLDERS:
        message = F.regexp_replace(F.substring(message, 1, READ), pattern, placeholder)
    return F.trim(F.substring(message, 1, KEPT))


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
