"""The steps that archive one day: read, write, verify, commit, record, drop."""

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from minutehand.database import Database, sql
from minutehand_pipeline.archive.closing import Day
from minutehand_pipeline.archive.ledger import APP, Batch, record_batch, record_day
from minutehand_pipeline.archive.lock import archive_lock
from minutehand_pipeline.archive.private import Subjects, clear_private, read_erased
from minutehand_pipeline.archive.sums import IDENTITY, Sums, identify_frame, sum_database, sum_frame
from minutehand_pipeline.errors import MismatchError
from minutehand_pipeline.lake import DataFile, Lake
from minutehand_pipeline.lake.frames import read_files, write_files
from minutehand_pipeline.queue.reading import ISOLATION
from minutehand_pipeline.queue.source import held_snapshot, register
from minutehand_pipeline.schemas import Home
from minutehand_pipeline.statements import run_statement


@dataclass(frozen=True)
class Reading:
    """A day's rows on one snapshot: those that the lake lacks, and those that it has (None if it has no files)."""

    missing: DataFrame
    archived: DataFrame | None


class Archiver:
    """Archives days. Each step is a method, so that tests can interrupt a run at any of them."""

    def __init__(
        self, spark: SparkSession, lake: Lake, database: Database, location: Mapping[str, str]
    ) -> None:
        """Store the parts. `location` tells Spark's tasks where the database is."""
        self.spark, self.lake, self.database, self.location = spark, lake, database, location
        register(spark)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the archive lock. Raises BusyError if another process has it."""
        with archive_lock(self.database):
            yield

    def archive(self, day: Day, number: int) -> Batch | None:
        """Archive the rows of a closed day that the lake lacks, as batch `number`; None if it lacks none."""
        erased = read_erased(self.database)
        with held_snapshot(self.database) as snapshot, ThreadPoolExecutor(1) as pool:
            reading = self.read(day, snapshot, erased)
            files = self.write(day.home, reading.missing)
            archived = sum_frame(reading.archived, day.home) if reading.archived is not None else Sums()
            # The database counts while Spark reads the files back, after the tasks have released their connections.
            counting = pool.submit(self.count, day, snapshot, erased)
            written = sum_frame(read_files(self.spark, self.lake, day.home, files), day.home)
            present, snapshot_text = counting.result()
        self.verify(day, written + archived, present)
        if not files:
            record_day(self.database, day.home, day.day, present, snapshot_text)
            return None
        batch = Batch(day.home, number, day.day, written, present, snapshot_text)
        self.commit(batch, files)
        self.record(batch)
        return batch

    def count(self, day: Day, snapshot: str, erased: Subjects) -> tuple[Sums, str]:
        """Return the database's own sums of a day on the snapshot, and the snapshot as Postgres prints it."""
        counter = self.database.clone()
        try:
            with counter.transaction() as connection:
                connection.execute(ISOLATION)
                connection.execute(sql.SQL("set transaction snapshot {}").format(sql.Literal(snapshot)))
                [(text,)] = connection.execute("select pg_current_snapshot()::text").fetchall()
                return sum_database(connection, day.home, day.day, erased), text
        finally:
            counter.close()

    def read(self, day: Day, snapshot: str, erased: Subjects) -> Reading:
        """Return the day's rows as the lake must have them."""
        rows = self._queue_rows(day, snapshot).transform(clear_private, day.home, erased)
        files = self.lake.table(day.home).files(days=[day.day])
        if not files:
            return Reading(rows, None)
        in_lake = read_files(self.spark, self.lake, day.home, files)
        key, identity = list(day.home.key), IDENTITY[day.home.name]
        # A row that shares its key with one in the lake but has another ack is in neither frame. The sums then
        # differ, and verify reports it.
        return Reading(
            rows.join(in_lake.select(*key), on=key, how="left_anti"),
            rows.join(in_lake, [rows[name].eqNullSafe(in_lake[name]) for name in identity], how="left_semi"),
        )

    def write(self, home: Home, rows: DataFrame) -> list[DataFile]:
        """Write the rows as data files. They are not part of the lake before the commit."""
        return write_files(rows, self.lake, home)

    def verify(self, day: Day, lake_sums: Sums, present: Sums) -> None:
        """Compare the sums of the files with the database's. Raises MismatchError, before anything is committed."""
        if differences := present.differences(lake_sums):
            raise MismatchError(
                f"{day.home.name} of {day.day}: the database and the files differ in {', '.join(differences)}; "
                "nothing was committed and nothing dropped"
            )

    def commit(self, batch: Batch, files: list[DataFile]) -> None:
        """Add the files to the lake, all at once."""
        self.lake.table(batch.home).commit(files, app=APP, number=batch.number, facts=batch.facts())

    def record(self, batch: Batch) -> None:
        """Write the batch to the ledger."""
        record_batch(self.database, self.lake.table(batch.home), batch)

    def has_rows(self, day: Day, present: Sums) -> bool:
        """Whether the lake has exactly these rows of a day, by key and ack."""
        files = self.lake.table(day.home).files(days=[day.day])
        found = identify_frame(read_files(self.spark, self.lake, day.home, files), day.home)
        return (found.rows, found.identity) == (present.rows, present.identity)

    def drop(self, day: Day) -> str:
        """Drop a day from the database if the lake has it; return `dropped`, `held`, `busy`, `large` or `none`."""
        if day.partitioned:
            found = run_statement(self.database, "archive_drop", home=day.home.name, day=day.day)
        else:
            found = run_statement(self.database, "archive_exchange", home=day.home.name, days=[day.day])
        return str(found[0]["outcome"])

    def _queue_rows(self, day: Day, snapshot: str) -> DataFrame:
        options = {"home": day.home.name, "day": day.day.isoformat(), "snapshot": snapshot, **self.location}
        return self.spark.read.format("minutehand").options(**options).load()
