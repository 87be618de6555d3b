"""The Spark data source `minutehand`.

    from minutehand_pipeline.queue.source import held_snapshot, register

    register(spark)
    with held_snapshot(database) as snapshot:
        jobs = spark.read.format("minutehand").option("day", "2026-03-31").option("snapshot", snapshot).load()

Read options; the columns are those of minutehand_pipeline.schemas:

    table          jobs_done (the default), attempts or events
    day            one UTC day, such as 2026-03-31; or
    since, until   the first and last day, both included; either may be omitted
    snapshot       the id of a snapshot whose transaction is still open; all tasks then see the same rows
    partitions     the number of tasks, and so of connections; by default one per 64 MiB, at most 200
    slots          read a slice of pages at a time while holding one of this number of slots, which an archive limits
    columns        a list such as id,kind,deleted; by default all
    relation       one day's partition by name, even if detached; only its owner can read it
    url_variable   the environment variable that has the database's URL, on the driver and the executors
    url_file       the file that has it; without either: DATABASE_URL or MINUTEHAND_DATABASE_SECRET

Write options, with mode append; the columns are those of queue.writing.COLUMNS, of which kind is required:

    load           the load's name; a name that is in minutehand.loads is not entered again
    on_conflict    replace (the default), ignore or raise, for a key that has an upcoming job
    rate, over     jobs per second, or the seconds over which all jobs are spread; run_at and delay take precedence
    start          when the first job is due, in ISO 8601 with an offset; by default now
    url_variable, url_file

Row-level security applies as in SQL. Options appear in plans, which are shown and logged, so the URL is not an option.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date

from pyspark.sql import SparkSession
from pyspark.sql import types as T
from pyspark.sql.datasource import DataSource

from minutehand.database import Database
from minutehand_pipeline.errors import InputError
from minutehand_pipeline.queue.location import LOCATIONS, url_getter
from minutehand_pipeline.queue.ranges import Selection
from minutehand_pipeline.queue.reading import ISOLATION, QueueReader
from minutehand_pipeline.queue.slots import MOST
from minutehand_pipeline.queue.terms import read_terms
from minutehand_pipeline.queue.writing import QueueWriter
from minutehand_pipeline.schemas import HOMES, Home

READ_OPTIONS = (
    *("table", "day", "since", "until", "snapshot", "partitions", "slots", "columns", "relation"),
    *LOCATIONS,
)


class QueueSource(DataSource):
    """The data source `minutehand`."""

    @classmethod
    def name(cls) -> str:
        """Return the name that `format` takes."""
        return "minutehand"

    def schema(self) -> T.StructType:
        """Return the requested columns in the requested order."""
        home = self._home()
        columns = self.options.get("columns")
        names = [name.strip() for name in columns.split(",")] if columns else home.schema.names
        if unknown := [name for name in names if name not in home.schema.names]:
            raise InputError(
                f"{home.name} has no column {unknown[0]!r}; expected some of {', '.join(home.schema.names)}"
            )
        if len(set(names)) < len(names):
            raise InputError("columns must not repeat a name")
        return T.StructType([home.schema[name] for name in names])

    def reader(self, schema: T.StructType) -> QueueReader:
        """Return a reader for the options."""
        if unknown := sorted(set(self.options) - set(READ_OPTIONS)):
            raise InputError(f"unknown read option {unknown[0]!r}; expected one of {', '.join(READ_OPTIONS)}")
        day = self._date("day")
        since, until = self._date("since"), self._date("until")
        if day is not None and (since is not None or until is not None):
            raise InputError("expected day, or since and until, got both")
        selection = Selection(
            self._home(), tuple(schema.names), day or since, day or until, self.options.get("relation")
        )
        return QueueReader(
            selection,
            schema,
            url_getter(self.options),
            self.options.get("snapshot"),
            self._number("partitions", 10_000),
            self._number("slots", MOST),
        )

    def writer(self, schema: T.StructType, overwrite: bool) -> QueueWriter:
        """Return a writer for the options."""
        if overwrite:
            raise InputError("a queue cannot be overwritten: use mode append")
        return QueueWriter(read_terms(self.options), schema, url_getter(self.options))

    def _home(self) -> Home:
        name = self.options.get("table", "jobs_done")
        if name not in HOMES:
            raise InputError(f"table must be one of {', '.join(HOMES)}, got {name!r}")
        return HOMES[name]

    def _date(self, option: str) -> date | None:
        text = self.options.get(option)
        try:
            return None if text is None else date.fromisoformat(text)
        except ValueError:
            raise InputError(f"{option} must be a UTC day such as 2026-03-31, got {text!r}") from None

    def _number(self, option: str, most: int) -> int | None:
        text = self.options.get(option)
        if text is not None and not (text.isascii() and text.isdigit() and 0 < int(text) <= most):
            raise InputError(f"{option} must be an integer from 1 to {most}, got {text!r}")
        return None if text is None else int(text)


def register(spark: SparkSession) -> None:
    """Register `format("minutehand")` with a session, from any thread."""
    # The Java side looks up sources in the thread's session; creating a frame makes this the thread's session.
    spark.createDataFrame([], "id int")
    spark.dataSource.register(QueueSource)


@contextmanager
def held_snapshot(database: Database) -> Iterator[str]:
    """Hold a snapshot open on a separate connection, and yield its id for the option `snapshot`.

    It holds back vacuum, so hold it for a day's rows rather than for a month's.
    """
    holder = database.clone()
    try:
        with holder.transaction() as connection:
            connection.execute(ISOLATION)
            # It is idle while the rows are copied.
            connection.execute("set local idle_in_transaction_session_timeout = 0")
            [(snapshot,)] = connection.execute("select pg_export_snapshot()").fetchall()
            yield snapshot
    finally:
        holder.close()
