"""The rules of `enqueue` as Spark expressions: the reason why a row is not a job."""

from collections.abc import Callable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from minutehand.model.rules import sentence
from minutehand_pipeline.load.files import LOADED

# The same as the database's domains. `\z`, because Java's `$` also matches before a final line break.
KIND = r"^[A-Za-z][A-Za-z0-9_]*([.][A-Za-z][A-Za-z0-9_]*)*\z"
QUEUE = r"^[A-Za-z0-9][A-Za-z0-9_.-]*\z"
TENANT = r"^([A-Za-z0-9][A-Za-z0-9_.:@-]*)?\z"
# Seconds. A time further off than MAX_DELAY is out of range for Postgres or Python.
DAY, MAX_DELAY = 86_400, 7_900 * 365.2425 * 86_400
NUL = "\0"


def checked(
    max_payload: int, kind: str | None = None, queue: str | None = None
) -> Callable[[DataFrame], DataFrame]:
    """Return the transformation that turns rows of files into rows to stage: jobs, and rows with a `reason`.

    `kind` and `queue` apply to rows that have none.
    """

    def check(rows: DataFrame) -> DataFrame:
        return (
            rows.withColumn("kind", F.coalesce("kind", F.lit(kind)))
            .withColumn("queue", F.coalesce("queue", F.lit(queue)))
            .withColumn("reason", reason(max_payload))
            .select("slice", "source", "line", "reason", "raw", *(_job_column(name) for name in LOADED))
        )

    return check


def reason(max_payload: int) -> Column:
    """Return why a row is not a job, by the first rule that it breaks, or null."""
    rules = [
        (F.col("kind").isNull(), "kind is missing"),
        (~_is_name("kind", KIND), sentence("kind_is_a_name")),
        (~_is_name("queue", QUEUE), sentence("queue_is_a_name")),
        (~F.octet_length("key").between(1, 1024), sentence("key_fits")),
        (F.contains("key", F.lit(NUL)), sentence("text_is_text")),
        (~F.col("priority").between(0, 9), sentence("priority_is_0_to_9")),
        (~F.col("max_attempts").between(1, 1_000_000), sentence("max_attempts_is_at_least_1")),
        (~((F.col("timeout") > 0) & _is_at_most("timeout", DAY)), sentence("timeout_is_positive")),
        (F.col("run_at").isNotNull() & F.col("delay").isNotNull(), sentence("run_at_or_delay")),
        (F.col("delay") < 0, sentence("delay_is_not_negative")),
        (~_is_at_most("delay", MAX_DELAY), sentence("time_is_finite")),
        (~F.year("run_at").between(1, 9998), sentence("time_is_finite")),
        (~_is_name("tenant", TENANT), sentence("tenant_is_a_name")),
        (
            F.octet_length("payload") > max_payload,
            F.concat(
                F.lit(f"the payload is too large: payload must have at most {max_payload} bytes, got "),
                F.octet_length("payload").cast("string"),
            ),
        ),
    ]
    return F.coalesce(
        "fault",
        *(
            F.when(broken, message if isinstance(message, Column) else F.lit(message))
            for broken, message in rules
        ),
    )


def _is_name(column: str, pattern: str) -> Column:
    return F.col(column).rlike(pattern) & (F.length(column) <= 100)


def _is_at_most(column: str, limit: float) -> Column:
    return (F.col(column) <= limit) & ~F.isnan(column)


def _job_column(name: str) -> Column:
    """Return a field of a job; null for a rejected row, whose value the staging table might not accept."""
    value = F.when(F.col("reason").isNull(), F.col(name))
    return (value.cast("int") if name in ("priority", "max_attempts") else value).alias(name)
