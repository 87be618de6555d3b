"""The rules of entering as expressions: of each row why it cannot be a job, in the words of `enqueue`."""

from collections.abc import Callable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from minutehand.model.rules import sentence

# As the domains of 0001 and 0006 have them; `\z`, since Java's `$` lets a line break pass.
KIND = r"^[A-Za-z][A-Za-z0-9_]*([.][A-Za-z][A-Za-z0-9_]*)*\z"
QUEUE = r"^[A-Za-z0-9][A-Za-z0-9_.-]*\z"
TENANT = r"^([A-Za-z0-9][A-Za-z0-9_.:@-]*)?\z"
DAY, AGES = (
    86_400,
    7_900 * 365.2425 * 86_400,
)  # seconds; what is further off is no moment of Postgres's or Python's
NUL = "\0"


def checked(
    most_bytes: int, kind: str | None = None, queue: str | None = None
) -> Callable[[DataFrame], DataFrame]:
    """Return the transformation of rows that were read into rows to stage: jobs, and others with their `reason`.

    `kind` and `queue` are of the rows that say none.
    """

    def check(rows: DataFrame) -> DataFrame:
        return (
            rows.withColumn("kind", F.coalesce("kind", F.lit(kind)))
            .withColumn("queue", F.coalesce("queue", F.lit(queue)))
            .withColumn("reason", reason(most_bytes))
            .select("slice", "source", "line", "reason", "raw", *(_of_jobs(name) for name in _KEPT))
        )

    return check


def reason(most_bytes: int) -> Column:
    """Why a row cannot be a job: the first rule that it breaks, as a sentence, or null."""
    rules = [
        (F.col("kind").isNull(), "kind is missing"),
        (~_name("kind", KIND), sentence("kind_is_a_name")),
        (~_name("queue", QUEUE), sentence("queue_is_a_name")),
        (~F.octet_length("key").between(1, 1024), sentence("key_fits")),
        (F.contains("key", F.lit(NUL)), sentence("text_is_text")),
        (~F.col("priority").between(0, 9), sentence("priority_is_0_to_9")),
        (~F.col("max_attempts").between(1, 1_000_000), sentence("max_attempts_is_at_least_1")),
        (~_above(F.col("timeout") > 0, "timeout", DAY), sentence("timeout_is_positive")),
        (F.col("run_at").isNotNull() & F.col("delay").isNotNull(), sentence("run_at_or_delay")),
        (F.col("delay") < 0, sentence("delay_is_not_negative")),
        (~_above(F.lit(True), "delay", AGES), sentence("moment_is_finite")),
        (~F.year("run_at").between(1, 9998), sentence("moment_is_finite")),
        (~_name("tenant", TENANT), sentence("tenant_is_a_name")),
        (
            F.octet_length("payload") > most_bytes,
            f"the payload is too large: payload must have at most {most_bytes} bytes",
        ),
    ]
    return F.coalesce("fault", *(F.when(broken, F.lit(said)) for broken, said in rules))


def _name(column: str, pattern: str) -> Column:
    return F.col(column).rlike(pattern) & (F.length(column) <= 100)


def _above(least: Column, column: str, most: float) -> Column:
    return least & (F.col(column) <= most) & ~F.isnan(column)


_KEPT = (
    "kind", "payload", "queue", "key", "run_at", "delay", "priority", "max_attempts", "retry", "timeout", "headers",
    "personal", "tenant",
)  # fmt: skip


def _of_jobs(name: str) -> Column:
    """Return a field of a row that is a job; of another none is kept, since no column of the table might take it."""
    kept = F.when(F.col("reason").isNull(), F.col(name))
    return (kept.cast("int") if name in ("priority", "max_attempts") else kept).alias(name)
