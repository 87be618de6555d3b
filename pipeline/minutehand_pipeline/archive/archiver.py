"""The steps that archive days: read, write, verify, commit, record, drop.

Small days are read and written together, because a Spark job costs seconds. Each is verified, committed and recorded
by itself.
"""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import date

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from minutehand.database import Database
from minutehand_pipeline.archive.closing import Day
from minutehand_pipeline.archive.ledger import APP, Batch, record_batch, record_day
from minutehand_pipeline.archive.lock import archive_lock
from minutehand_pipeline.archive.pace import Pace
from minutehand_pipeline.archive.private import Subjects, clear_private, read_erased
from minutehand_pipeline.archive.quiet import quiet
from minutehand_pipeline.archive.sums import IDENTITY, Sums, identify_frame, sum_database, sum_days
from minutehand_pipeline.errors import MismatchError
from minutehand_pipeline.lake import DataFile, Lake
from minutehand_pipeline.lake.frames import read_files, write_files
from minutehand_pipeline.queue.ranges import Pages, Selection, find_relations
from minutehand_pipeline.queue.reading import on_snapshot
from minutehand_pipeline.queue.slots import check_slots, slices, take_slot
from minutehand_pipeline.queue.source import held_snapshot, register
from minutehand_pipeline.schemas import Home
from minutehand_pipeline.statements import run_statement

# Sessions that read a small amount, for which it is not worthwhile to measure, and at most for a large one.
FEW, MANY = 1, 8
# From this number of rows an amount is large. Fewer take less time than measuring the queue's latency.
LARGE = 200_000


@dataclass(frozen=True)
class Reading:
    """The days' rows on one snapshot: those that the lake lacks, and those that it has (None if it has no files)."""

    missing: DataFrame
    archived: DataFrame | None


@dataclass(frozen=True)
class Copy:
    """A day's new files, not committed yet, and the sums to verify them.

    `written` sums the files, `archived` the rows that the lake had before, and `present` the rows in the database.
    """

    day: Day
    files: list[DataFile]
    written: Sums
    archived: Sums
    present: Sums
    snapshot: str


class Archiver:
    """Archives days. Each step is a method, so that tests can interrupt a run at any of them."""

    def __init__(
        self,
        spark: SparkSession,
        lake: Lake,
        database: Database,
        location: Mapping[str, str],
        readers: int | None = None,
    ) -> None:
        """Store the parts. `location` tells Spark's tasks where the database is.

        `readers` is how many sessions read at the same time; by default as many as do not disturb the queue.
        """
        self.spark, self.lake, self.database, self.location = spark, lake, database, location
        self._readers = None if readers is None else check_slots(readers)
        self._slots, self._pace = FEW, Pace(MANY)
        register(spark)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the archive lock. Raises BusyError if another process has it."""
        with archive_lock(self.database):
            yield

    def copy(self, days: Sequence[Day], rows: int = 0) -> list[Copy]:
        """Write the rows of closed days of one home that the lake lacks, and sum up all by day; they have `rows`."""
        erased, home = read_erased(self.database), days[0].home
        run_statement(self.database, "archive_begin", home=home.name, days=[each.day for each in days])
        with self._paced(rows), held_snapshot(self.database) as snapshot, ThreadPoolExecutor(1) as pool:
            reading = self.read(days, snapshot, erased)
            files = self.write(home, reading.missing)
            archived = sum_days(reading.archived, home) if reading.archived is not None else {}
            # The database counts while Spark reads the files back, after the tasks have released their connections.
            counting = pool.submit(self.count, days, snapshot, erased)
            written = sum_days(read_files(self.spark, self.lake, home, files), home)
            present, text = counting.result()
        none = Sums()
        return [
            Copy(
                day,
                [file for file in files if file.day == day.day],
                written.get(day.day, none),
                archived.get(day.day, none),
                present[day.day],
                text,
            )
            for day in days
        ]

    def _paced(self, rows: int) -> AbstractContextManager[None]:
        """Choose the number of sessions that read this number of rows, and adapt it if they are many."""
        is_adapted = self._readers is None and rows > LARGE
        self._slots = self._readers or (MANY if is_adapted else FEW)
        return quiet(self.database, self._pace) if is_adapted else nullcontext()

    def archive(self, copy: Copy, number: int) -> Batch | None:
        """Verify a day's copy, then commit and record it as batch `number`. Return None if it has no files."""
        self.verify(copy.day, copy.written + copy.archived, copy.present)
        home, day = copy.day.home, copy.day.day
        if not copy.files:
            record_day(self.database, home, day, copy.present, copy.snapshot)
            return None
        batch = Batch(home, number, day, copy.written, copy.present, copy.snapshot)
        self.commit(batch, copy.files)
        self.record(batch)
        return batch

    def count(self, days: Sequence[Day], snapshot: str, erased: Subjects) -> tuple[dict[date, Sums], str]:
        """Return the database's own sums of each day on the snapshot, and the snapshot as Postgres prints it."""
        with closing(self.database.clone()) as counter:
            with on_snapshot(counter, snapshot) as connection:
                [(text,)] = connection.execute("select pg_current_snapshot()::text").fetchall()
            return {each.day: self._count_day(counter, each, snapshot, erased) for each in days}, text

    def _count_day(self, counter: Database, day: Day, snapshot: str, erased: Subjects) -> Sums:
        """Sum up a day by slices of pages, while holding a slot for each."""
        found = find_relations(counter.connection, Selection(day.home, (), day.day, day.day))
        total = Sums()
        for pages in (each for name, size in found for each in slices(Pages(name, 0, None), size)):
            with on_snapshot(counter, snapshot) as connection:
                take_slot(lambda text: connection.execute(text).fetchone(), self._slots)
                total += sum_database(connection, day.home, day.day, pages, erased)
        return total

    def read(self, days: Sequence[Day], snapshot: str, erased: Subjects) -> Reading:
        """Return the days' rows as the lake must have them."""
        home = days[0].home
        rows = self._queue_rows(days, snapshot).transform(clear_private, home, erased)
        files = self.lake.table(home).files(days=[each.day for each in days])
        if not files:
            return Reading(rows, None)
        in_lake = read_files(self.spark, self.lake, home, files)
        key, identity = list(home.key), IDENTITY[home.name]
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

    def _queue_rows(self, days: Sequence[Day], snapshot: str) -> DataFrame:
        home, wanted = days[0].home, [each.day for each in days]
        reader = self.spark.read.format("minutehand").options(table=home.name, **self.location)
        reader = reader.options(since=min(wanted).isoformat(), until=max(wanted).isoformat())
        rows = reader.options(snapshot=snapshot, slots=str(self._slots)).load()
        # A day between them may have no partition, but late rows in the default partition.
        return rows if len(days) == 1 else rows.where(F.col("day").isin(wanted))
