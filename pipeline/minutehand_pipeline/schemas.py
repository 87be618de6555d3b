"""The lake's tables, once: what Spark, Arrow and Delta make of a row of the queue, and what docs/lake.md publishes.

Ids are texts, moments are UTC with microseconds, durations are seconds, and what was JSON is the text of it. `day` is
the UTC day by which a table is partitioned. A column, once published, keeps its name and type; new ones come at the
end, may be null, and are null in what was written before them.
"""

from dataclasses import dataclass

from pyspark.sql import types as T

TEXT, WHOLE, LONG, TRUTH, MOMENT = (
    T.StringType(),
    T.IntegerType(),
    T.LongType(),
    T.BooleanType(),
    T.TimestampType(),
)


@dataclass(frozen=True)
class Home:
    """A table of the queue that lies in days, and its table in the lake: the column that dates a row, and its key."""

    name: str  # in Postgres
    lake: str  # the folder in the lake
    dated: str
    key: tuple[str, ...]
    schema: T.StructType


def _schema(*columns: tuple[str, T.DataType]) -> T.StructType:
    return T.StructType([T.StructField(name, kind) for name, kind in columns])


JOBS = _schema(
    ("day", T.DateType()),  # of `deleted`
    ("id", TEXT),
    ("ack", TEXT),
    ("tenant", TEXT),
    ("queue", TEXT),
    ("kind", TEXT),
    ("key", TEXT),
    ("state", TEXT),  # done, dead or cancelled
    ("enqueued", MOMENT),
    ("run_at", MOMENT),
    ("visible", MOMENT),
    ("claimed", MOMENT),  # when the last claim was made
    ("deleted", MOMENT),  # when it was finished
    ("attempts", WHOLE),
    ("max_attempts", WHOLE),
    ("priority", WHOLE),
    ("timeout", T.DoubleType()),
    ("failed", TRUTH),
    ("cancelled", TRUTH),
    ("personal", TRUTH),
    ("every", TEXT),
    ("zone", TEXT),
    ("nominal", MOMENT),
    ("schedule", TEXT),
    ("version", TEXT),
    ("payload", TEXT),
    ("headers", TEXT),
    ("retry", TEXT),
    ("result", TEXT),
    ("error", TEXT),
)

ATTEMPTS = _schema(
    ("day", T.DateType()),  # of `ended`
    ("job", TEXT),
    ("attempt", WHOLE),
    ("started", MOMENT),
    ("ended", MOMENT),
    ("tenant", TEXT),
    ("queue", TEXT),
    ("kind", TEXT),
    ("outcome", TEXT),  # done, retrying, snoozed, released, dead, cancelled, superseded, lapsed
    ("memory_mb", WHOLE),
    ("worker", TEXT),
    ("request", TEXT),
    ("version", TEXT),
    ("error", TEXT),
    ("result", TEXT),
)

EVENTS = _schema(
    ("day", T.DateType()),  # of `at`
    ("id", TEXT),
    ("at", MOMENT),
    ("tenant", TEXT),
    ("name", TEXT),
    ("job", TEXT),
    ("queue", TEXT),
    ("kind", TEXT),
    ("facts", TEXT),
)

HOMES = {
    home.name: home
    for home in (
        Home("jobs_done", "jobs", "deleted", ("id", "deleted"), JOBS),
        Home("attempts", "attempts", "ended", ("job", "ended", "attempt"), ATTEMPTS),
        Home("events", "events", "at", ("id", "at"), EVENTS),
    )
}
