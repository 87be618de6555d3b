"""Carry one day to the lake: read, write, read back, compare, commit, note; and drop it where that is asked for."""

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from minutehand.database import Database, sql
from minutehand_pipeline.archive.close import Day
from minutehand_pipeline.archive.ledger import APP, Batch, note, note_seen
from minutehand_pipeline.archive.lock import locked
from minutehand_pipeline.archive.private import Erased, clear_private, read_erased
from minutehand_pipeline.archive.sums import IDENTITY, Sums, identify_frame, sum_database, sum_frame
from minutehand_pipeline.errors import DisagreeError
from minutehand_pipeline.lake import DataFile, Lake
from minutehand_pipeline.schemas import Home
from minutehand_pipeline.sources.lake import read_files, write_files
from minutehand_pipeline.sources.queue import held_snapshot, register
from minutehand_pipeline.sources.reading import ISOLATION
from minutehand_pipeline.statements import run


@dataclass(frozen=True)
class Reading:
    """What a day's batch is made of: its rows in the queue that the lake lacks, and the others, all on one snapshot."""

    late: DataFrame
    known: DataFrame | None


class Archiver:
    """Carries days. Each step is a method, so that a test can end a run at any of them."""

    def __init__(self, spark: SparkSession, lake: Lake, database: Database, place: Mapping[str, str]) -> None:
        """Remember the parts; `place` says where Spark's tasks find the database."""
        self.spark, self.lake, self.database, self.place = spark, lake, database, place
        register(spark)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Be the only archiver; raise BusyError where there is one."""
        with locked(self.database):
            yield

    def carry(self, day: Day, number: int) -> Batch | None:
        """Carry the rows of a closed day that the lake lacks, as batch `number`; None where it lacks none."""
        erased = read_erased(self.database)
        with held_snapshot(self.database) as snapshot, ThreadPoolExecutor(1) as beside:
            reading = self.read(day, snapshot, erased)
            files = self.write(day.home, reading.late)
            known = sum_frame(reading.known, day.home) if reading.known is not None else Sums()
            # Beside what Spark does alone, so that the database never has more to do than its workers leave it.
            there_later = beside.submit(self.count, day, snapshot, erased)
            written = sum_frame(read_files(self.spark, self.lake, day.home, files), day.home)
            there, seen = there_later.result()
        self.verify(day, written + known, there)
        if not files:
            note_seen(self.database, day.home, day.day, there, seen)
            return None
        batch = Batch(day.home, number, day.day, written, there, seen)
        self.commit(batch, files)
        self.note(batch)
        return batch

    def count(self, day: Day, snapshot: str, erased: Erased) -> tuple[Sums, str]:
        """Return the database's own sums of a day, on the snapshot, and what that one sees, as Postgres writes it."""
        counter = self.database.clone()
        try:
            with counter.transaction() as connection:
                connection.execute(ISOLATION)
                connection.execute(sql.SQL("set transaction snapshot {}").format(sql.Literal(snapshot)))
                [(seen,)] = connection.execute("select pg_current_snapshot()::text").fetchall()
                return sum_database(connection, day.home, day.day, erased), seen
        finally:
            counter.close()

    def read(self, day: Day, snapshot: str, erased: Erased) -> Reading:
        """Return the day's rows, as they are to be in the lake."""
        rows = self._queue(day, snapshot).transform(clear_private, day.home, erased)
        files = self.lake.table(day.home).files(days=[day.day])
        if not files:
            return Reading(rows, None)
        there = read_files(self.spark, self.lake, day.home, files)
        key, same = list(day.home.key), IDENTITY[day.home.name]
        # A row with the key of one in the lake, and another ack, is neither: then the counts differ, and that is told.
        return Reading(
            rows.join(there.select(*key), on=key, how="left_anti"),
            rows.join(there, [rows[name].eqNullSafe(there[name]) for name in same], how="left_semi"),
        )

    def write(self, home: Home, rows: DataFrame) -> list[DataFile]:
        """Write the rows as data files, which nobody sees."""
        return write_files(rows, self.lake, home)

    def verify(self, day: Day, here: Sums, there: Sums) -> None:
        """Compare the sums of the files, and of what the lake had before, with the database's own.

        Raises DisagreeError, and then nothing is committed.
        """
        if differ := there.differences(here):
            raise DisagreeError(
                f"{day.home.name} of {day.day}: the database and the files written differ in {', '.join(differ)}; "
                "nothing was committed and nothing dropped"
            )

    def commit(self, batch: Batch, files: list[DataFile]) -> None:
        """Make the files part of the lake, all of them at once."""
        self.lake.table(batch.home).commit(files, app=APP, number=batch.number, facts=batch.facts())

    def note(self, batch: Batch) -> None:
        """Write the batch into the ledger."""
        note(self.database, self.lake.table(batch.home), batch)

    def holds(self, day: Day, there: Sums) -> bool:
        """Whether the lake has these very rows of a day, by their keys and acks; more may be there than are here."""
        files = self.lake.table(day.home).files(days=[day.day])
        rows = identify_frame(read_files(self.spark, self.lake, day.home, files), day.home)
        return (rows.rows, rows.identity) == (there.rows, there.identity)

    def drop(self, day: Day) -> str:
        """Drop a day that the lake has; say `dropped`, `held`, `busy`, `large` or `none`."""
        if day.partitioned:
            found = run(self.database, "archive_drop", home=day.home.name, day=day.day)
        else:
            found = run(self.database, "archive_exchange", home=day.home.name, days=[day.day])
        return str(found[0]["outcome"])

    def _queue(self, day: Day, snapshot: str) -> DataFrame:
        options = {"home": day.home.name, "day": day.day.isoformat(), "snapshot": snapshot, **self.place}
        return self.spark.read.format("minutehand").options(**options).load()
