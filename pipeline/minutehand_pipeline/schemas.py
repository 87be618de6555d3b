"""The schemas of the lake's tables, which docs/pipeline/lake.md publishes.

Ids and JSON are strings, times are UTC with microseconds, durations are seconds. `day` is the UTC day by which a table
is partitioned. A published column keeps its name and type. New columns are added at the end, and are null in older
files.
"""

from dataclasses import dataclass

from pyspark.sql import types as T

TEXT, INTEGER, BOOLEAN, TIME = (
    T.StringType(),
    T.IntegerType(),
    T.BooleanType(),
    T.TimestampType(),
)


@dataclass(frozen=True)
class Home:
    """A table of the queue that is partitioned by day, and its table in the lake.

    `name` is the table in Postgres, `lake` the folder in the lake, `dated` the column that determines a row's day.
    """

    name: str
    lake: str
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
    ("state", TEXT),  # done, dead, expired or cancelled
    ("enqueued", TIME),
    ("run_at", TIME),
    ("visible", TIME),
    ("claimed", TIME),  # when the last claim was made
    ("deleted", TIME),  # when it was finished
    ("attempts", INTEGER),
    ("max_attempts", INTEGER),
    ("priority", INTEGER),
    ("timeout", T.DoubleType()),
    ("failed", BOOLEAN),
    ("cancelled", BOOLEAN),
    ("personal", BOOLEAN),
    ("every", TEXT),
    ("zone", TEXT),
    ("nominal", TIME),
    ("schedule", TEXT),
    ("version", TEXT),
    ("payload", TEXT),
    ("headers", TEXT),
    ("retry", TEXT),
    ("result", TEXT),
    ("error", TEXT),
    ("expires", T.DoubleType()),
    ("on_dead", TEXT),
    ("group", TEXT),
    ("batch", TEXT),
    ("after", TEXT),
    ("after_failure", TEXT),
)

ATTEMPTS = _schema(
    ("day", T.DateType()),  # of `ended`
    ("job", TEXT),
    ("attempt", INTEGER),
    ("started", TIME),
    ("ended", TIME),
    ("tenant", TEXT),
    ("queue", TEXT),
    ("kind", TEXT),
    ("outcome", TEXT),  # done, retrying, snoozed, released, dead, cancelled, superseded, lapsed
    ("memory_mb", INTEGER),
    ("worker", TEXT),
    ("request", TEXT),
    ("version", TEXT),
    ("error", TEXT),
    ("result", TEXT),
)

EVENTS = _schema(
    ("day", T.DateType()),  # of `at`
    ("id", TEXT),
    ("at", TIME),
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
