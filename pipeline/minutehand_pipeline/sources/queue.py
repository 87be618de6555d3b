"""The queue as a place that Spark reads from and writes to: `spark.read.format("minutehand")`.

    from minutehand_pipeline.sources.queue import held_snapshot, register

    register(spark)
    with held_snapshot(database) as snapshot:
        jobs = spark.read.format("minutehand").option("day", "2026-03-31").option("snapshot", snapshot).load()

Options of reading; the columns are those that minutehand_pipeline.schemas publishes:

    home           jobs_done (the default), attempts or events
    day            one UTC day, as 2026-03-31; or
    since, until   the days from and to, both included; either may be left out
    snapshot       of a transaction that is held open meanwhile: then all tasks see the same rows
    partitions     how many tasks, and so connections at most; else one for every 64 MiB, and at most 200
    columns        only these, as id,kind,deleted
    relation       one day's partition by its name, also when it is detached; its owner may ask for that
    url_variable   the environment variable that has the database's URL, where the driver and the executors run
    url_file       or the file that has it; without either: DATABASE_URL or MINUTEHAND_DATABASE_SECRET

Options of writing, with mode append; the columns are those of sources.writing.COLUMNS, of which kind is needed:

    load           the load's name: one that the ledger minutehand.loads has is not entered again
    on_conflict    replace (the default), ignore or raise, for a key that has an upcoming job
    rate, over     jobs a second, or the seconds that all are spread over; rows with run_at or delay keep theirs
    start          from when on, ISO 8601 with an offset; else from now
    url_variable, url_file

A role sees what it would see in SQL: row-level security confines who reads here, too. Options travel in the plan,
which is shown and logged; so the URL is none of them.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date

from pyspark.sql import SparkSession
from pyspark.sql import types as T
from pyspark.sql.datasource import DataSource

from minutehand.database import Database
from minutehand_pipeline.errors import InputError
from minutehand_pipeline.schemas import HOMES, Home
from minutehand_pipeline.sources.place import PLACES, place_of
from minutehand_pipeline.sources.ranges import Wanted
from minutehand_pipeline.sources.reading import ISOLATION, QueueReader
from minutehand_pipeline.sources.terms import terms_of
from minutehand_pipeline.sources.writing import QueueWriter

READING = ("home", "day", "since", "until", "snapshot", "partitions", "columns", "relation", *PLACES)


class QueueSource(DataSource):
    """The data source `minutehand`."""

    @classmethod
    def name(cls) -> str:
        """Return what `format` takes."""
        return "minutehand"

    def schema(self) -> T.StructType:
        """Return the columns that are asked for, in the order in which they are asked for."""
        home = self._home()
        said = self.options.get("columns")
        names = [name.strip() for name in said.split(",")] if said else home.schema.names
        if unknown := [name for name in names if name not in home.schema.names]:
            raise InputError(
                f"{home.name} has no column {unknown[0]!r}; it has {', '.join(home.schema.names)}"
            )
        if len(set(names)) < len(names):
            raise InputError("columns names one twice")
        return T.StructType([home.schema[name] for name in names])

    def reader(self, schema: T.StructType) -> QueueReader:
        """Return what reads, by the options."""
        if unknown := sorted(set(self.options) - set(READING)):
            raise InputError(f"no option of reading is called {unknown[0]!r}; they are {', '.join(READING)}")
        day = self._date("day")
        since, until = self._date("since"), self._date("until")
        if day is not None and (since is not None or until is not None):
            raise InputError("say day, or since and until")
        wanted = Wanted(
            self._home(), tuple(schema.names), day or since, day or until, self.options.get("relation")
        )
        return QueueReader(
            wanted, schema, place_of(self.options), self.options.get("snapshot"), self._tasks()
        )

    def writer(self, schema: T.StructType, overwrite: bool) -> QueueWriter:
        """Return what writes, by the options."""
        if overwrite:
            raise InputError("a queue is appended to: write with mode append")
        return QueueWriter(terms_of(self.options), schema, place_of(self.options))

    def _home(self) -> Home:
        name = self.options.get("home", "jobs_done")
        if name not in HOMES:
            raise InputError(f"home is {', '.join(HOMES)}; this is {name!r}")
        return HOMES[name]

    def _date(self, option: str) -> date | None:
        said = self.options.get(option)
        try:
            return None if said is None else date.fromisoformat(said)
        except ValueError:
            raise InputError(f"{option} is a UTC day, as 2026-03-31; this is {said!r}") from None

    def _tasks(self) -> int | None:
        said = self.options.get("partitions")
        if said is not None and not (said.isascii() and said.isdigit() and 0 < int(said) <= 10_000):
            raise InputError("partitions is a whole number from 1 to 10000")
        return None if said is None else int(said)


def register(spark: SparkSession) -> None:
    """Make `format("minutehand")` known to a session, in any thread."""
    spark.createDataFrame([], "id int")  # makes it this thread's session, which is asked for its sources
    spark.dataSource.register(QueueSource)


@contextmanager
def held_snapshot(database: Database) -> Iterator[str]:
    """Hold a snapshot open, over a connection of its own, and yield its id for the option `snapshot`.

    It holds vacuum back while it lasts, so let it last for a day's rows and not for a month's.
    """
    holder = database.clone()
    try:
        with holder.transaction() as connection:
            connection.execute(ISOLATION)
            [(snapshot,)] = connection.execute("select pg_export_snapshot()").fetchall()
            yield snapshot
    finally:
        holder.close()
