"""A realistic lake: busy days, quiet nights, an hour with delays, and errors of few causes.

All values are hashes of a row's number, so they are the same on every machine.
"""

from datetime import UTC, date, datetime, timedelta

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from minutehand_pipeline.lake import Lake
from minutehand_pipeline.lake.frames import append
from minutehand_pipeline.schemas import ATTEMPTS, HOMES, JOBS

LAST = date(2026, 3, 29)  # a Sunday
MESSAGES = (
    "HTTP 503 from https://mail.example.org/v2/messages/8f14e45f after 30 s",
    "could not find invoice 4711 of customer 'ACME & Sons'",
    "connection to 10.0.3.17:5432 timed out",
)


def chance(salt: int) -> Column:
    """Return a number from 0 to 1 that depends on the row's number."""
    return (F.pmod(F.xxhash64("n", F.lit(salt)), F.lit(1_000_003)) / 1_000_003).cast("double")


def _normal(one: int, other: int) -> Column:
    """Return a number of the standard normal distribution, by Box and Muller."""
    length = F.sqrt(-2 * F.log(F.least(F.lit(1.0), chance(one) + 1e-6)))  # chance may return 1
    return length * F.cos(6.283185 * chance(other))


def recorded(spark: SparkSession, jobs: int, days: int, last: date = LAST) -> DataFrame:
    """Return a row per job, with its wait and run time in seconds."""
    since = datetime(last.year, last.month, last.day, tzinfo=UTC) - timedelta(days=days - 1)
    day_second = 86_400 * (0.5 + 0.42 * F.sin(6.283185 * (chance(1) - 0.5)) * chance(2))
    bad = (F.col("day_number") == days - 5) & (F.col("second").between(50_000, 53_600))
    return (
        spark.range(jobs)
        .withColumnRenamed("id", "n")
        .withColumn("day_number", F.floor(F.col("n") * days / jobs).cast("int"))
        .withColumn("second", day_second)
        .where(
            (F.dayofweek(F.date_add(F.lit(last), F.col("day_number") - days + 1)) > 1) | (chance(3) < 0.35)
        )
        .withColumn(
            "due", (F.lit(int(since.timestamp())) + F.col("day_number") * 86_400 + F.col("second")) * 1e6
        )
        .withColumn("kind_number", F.floor(F.pow(chance(4), F.lit(2.2)) * 5).cast("int"))
        .withColumn("waited", 2 + 56 * chance(5) + F.when(bad, 240 * chance(6)).otherwise(0.0))
        .withColumn(
            "ran",
            F.exp(_normal(7, 8) * 0.8)
            * F.element_at(F.array(*map(F.lit, (0.12, 0.8, 2.5, 0.4, 6.0))), F.col("kind_number") + 1),
        )
        .withColumn("attempts", F.when(chance(9) < 0.955, 1).when(chance(9) < 0.99, 2).otherwise(3))
        .withColumn(
            "state",
            F.when(chance(10) < 0.994, "done").when(chance(10) < 0.9975, "dead").otherwise("cancelled"),
        )
        .withColumn(
            "tenant",
            F.element_at(
                F.array(*map(F.lit, ("acme", "acme", "globex", "initech", ""))),
                F.floor(chance(11) * 5).cast("int") + 1,
            ),
        )
        .withColumn("error", _error())
    )


def jobs_of(rows: DataFrame) -> DataFrame:
    """Return the rows as a frame of the lake's jobs."""
    begun = F.col("due") + F.col("waited") * 1e6 + (F.col("attempts") - 1) * 90e6
    return _with_nulls(
        rows.select(
            *_whose(),
            F.md5(F.concat(F.lit("ack"), "n")).alias("ack"),
            F.md5(F.concat(F.lit("job"), "n")).alias("id"),
            "state",
            _moment(F.col("due")).alias("run_at"),
            _moment(F.col("due")).alias("enqueued"),
            _moment(begun).alias("claimed"),
            _moment(begun + F.col("ran") * 1e6).alias("deleted"),
            F.col("attempts").cast("int").alias("attempts"),
            (F.col("state") == "dead").alias("failed"),
            F.lit('{"secret": "of the payload"}').alias("payload"),
            F.when(F.col("state") == "dead", F.col("error")).alias("error"),
        ).withColumn("day", F.to_date("deleted")),
        JOBS,
    )


def attempts_of(rows: DataFrame) -> DataFrame:
    """Return the rows as a frame of the lake's attempts."""
    started = F.col("due") + F.col("waited") * 1e6 + (F.col("attempt") - 1) * 90e6
    last = F.col("attempt") == F.col("attempts")
    memory = F.element_at(F.array(*map(F.lit, (256, 512, 1024, 256, 2048))), F.col("kind_number") + 1)
    return _with_nulls(
        rows.withColumn("attempt", F.explode(F.sequence(F.lit(1), F.col("attempts").cast("int"))))
        .select(
            *_whose(),
            F.md5(F.concat(F.lit("job"), "n")).alias("job"),
            "attempt",
            _moment(started).alias("started"),
            _moment(started + F.col("ran") * 1e6).alias("ended"),
            F.when(last, F.col("state")).otherwise("retrying").alias("outcome"),
            memory.alias("memory_mb"),
            F.md5(F.concat("n", "attempt")).alias("request"),
            F.when(~last | (F.col("state") == "dead"), F.col("error")).alias("error"),
        )
        .withColumn("day", F.to_date("ended")),
        ATTEMPTS,
    )


def record(spark: SparkSession, lake: Lake, jobs: int, days: int) -> None:
    """Write a lake of about this many jobs; there are fewer on Sundays."""
    rows = recorded(spark, jobs, days)
    append(jobs_of(rows), lake, HOMES["jobs_done"], app="minutehand", number=1)
    append(attempts_of(rows), lake, HOMES["attempts"], app="minutehand", number=1)


def _whose() -> list[Column]:
    kinds = F.array(*map(F.lit, ("email", "thumbnail", "invoice", "webhook", "report")))
    queue = F.when(F.col("kind_number").isin(2, 4), "slow").otherwise("default")
    return [
        F.col("tenant"),
        queue.alias("queue"),
        F.element_at(kinds, F.col("kind_number") + 1).alias("kind"),
    ]


def _error() -> Column:
    types = F.array(*map(F.lit, ("ConnectionError", "LookupError", "TimeoutError")))
    which = F.floor(F.pow(chance(12), F.lit(1.6)) * 3).cast("int") + 1
    return F.to_json(
        F.struct(
            F.element_at(types, which).alias("type"),
            F.regexp_replace(
                F.element_at(F.array(*map(F.lit, MESSAGES)), which), "4711", F.col("n").cast("string")
            ).alias("message"),
        )
    )


def _moment(micros: Column) -> Column:
    return F.timestamp_micros(micros.cast("long"))


def _with_nulls(frame: DataFrame, schema: T.StructType) -> DataFrame:
    return frame.select(
        *(
            (F.col(field.name) if field.name in frame.columns else F.lit(None))
            .cast(field.dataType)
            .alias(field.name)
            for field in schema
        )
    )
