"""Write jobs to the queue: tasks copy rows to a staging table, and one transaction enters them as jobs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import accumulate
from typing import Any
from uuid import uuid4

import numpy as np
import pyarrow as pa
from pyarrow import csv
from pyspark import TaskContext
from pyspark.sql import types as T
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage

from minutehand.database import Connection, Database, sql
from minutehand.errors import InvalidJobError, PayloadError, SchemaError
from minutehand_pipeline.errors import InputError, LoadError
from minutehand_pipeline.queue.terms import Terms, check_rejects, check_spread

# The columns of a run's staging table. The first three say which attempt staged a row, and its place in its slice.
TEXTS = ("kind", "payload", "queue", "key", "retry", "headers", "of_tenant", "source", "reason", "raw")
STAGED = pa.schema(
    [("attempt", pa.string()), ("slice", pa.int64()), ("ordinal", pa.int64())]
    + [(name, pa.string()) for name in TEXTS]
    + [("run_at", pa.timestamp("us", "UTC")), ("delay", pa.float64()), ("timeout", pa.float64())]
    + [("priority", pa.int32()), ("max_attempts", pa.int32()), ("personal", pa.bool_()), ("line", pa.int64())]
)
INTERNAL = ("attempt", "slice", "ordinal")
COLUMNS = (
    "slice",
    "tenant",
    *(name for name in STAGED.names if name not in INTERNAL and name != "of_tenant"),
)

INVALID_TEXT = "22P02"  # SQLSTATE invalid_text_representation
NO_TABLE = "42P01"  # SQLSTATE undefined_table

COPY = "copy minutehand.{} ({}) from stdin (format csv)"
# Texts are quoted and nulls are not, so that COPY distinguishes an empty text from a null.
CSV = csv.WriteOptions(include_header=False, quoting_style="needed")
ENTER = """
select * from minutehand.enqueue_load(%(load)s, %(run)s, %(attempts)s, %(slices)s, %(befores)s, %(on_conflict)s,
                                      %(rejected)s, %(expected)s, %(starts)s, %(spread)s)
"""


@dataclass
class Copied(WriterCommitMessage):
    """What one task attempt staged: the number of jobs in each slice, and the number of rejected rows."""

    attempt: str
    jobs: dict[int, int] = field(default_factory=dict)
    rejected: int = 0


class QueueWriter(DataSourceArrowWriter):
    """Enters the rows of a frame as jobs, all or none, and each load once."""

    def __init__(self, terms: Terms, schema: T.StructType, url: Callable[[], str]) -> None:
        """Check the columns. Without a run of the caller, begin one. Spark calls this once, before any task starts."""
        if unknown := [name for name in schema.names if name not in COLUMNS]:
            raise InputError(f"unknown column {unknown[0]!r}; expected some of {', '.join(COLUMNS)}")
        if "kind" not in schema.names:
            raise InputError("the DataFrame must have a column named kind")
        self._terms, self._url = terms, url
        self._run = terms.run or str(uuid4())
        if terms.run is None:
            with closing(Database(url)) as database:
                begin_run(database, terms.load, self._run)

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        """Copy a task's rows in one transaction."""
        context = TaskContext.get()
        copied = Copied(str(uuid4()))
        numbering = _Numbering(copied, context.partitionId() if context else 0)
        with (
            _invalid_json("payload"),
            _missing_table(),
            closing(Database(self._url)) as database,
            database.transaction() as connection,
        ):
            copy(connection, staging_table(self._run), (numbering.number(each) for each in iterator))
        return copied

    def commit(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        """Enter what the successful attempts staged, unless the load was entered before."""
        copied = [message for message in messages if isinstance(message, Copied)]
        rejected = sum(each.rejected for each in copied)
        check_rejects(rejected, self._terms.max_rejects)
        with closing(Database(self._url)) as database:
            parameters = load_parameters(copied, self._terms) | {"run": self._run, "rejected": rejected}
            with _invalid_json("retry or headers"):
                database.retry_on_conflict(lambda: enter(database, parameters))
            if self._terms.run is None:
                self._end(database)

    def abort(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        """Drop the staging table, unless the caller needs to read the rejected rows."""
        if self._terms.run is None:
            with closing(Database(self._url)) as database:
                self._end(database)

    def _end(self, database: Database) -> None:
        with database.transaction() as connection:
            connection.execute("select minutehand.end_load(%s)", [self._run])


@contextmanager
def _invalid_json(what: str) -> Iterator[None]:
    """Report invalid JSON by name. Postgres parses nothing else here that can be malformed."""
    try:
        yield
    except InvalidJobError as error:
        if getattr(error.__cause__, "sqlstate", None) != INVALID_TEXT:
            raise
        raise PayloadError("payload_is_json", f"the {what} of a row is not valid JSON") from None


@contextmanager
def _missing_table() -> Iterator[None]:
    """Report that the staging table is missing. The schema is not the cause, because the driver created the table."""
    try:
        yield
    except SchemaError as error:
        if getattr(error.__cause__, "sqlstate", None) != NO_TABLE:
            raise
        raise LoadError(
            "the staging table of this load is missing: either the tasks use another database than the driver (set "
            "DATABASE_URL or MINUTEHAND_DATABASE_SECRET alike on both), or it was removed because the load lost its "
            "connection (run the load again)"
        ) from None


def begin_run(database: Database, load: str, run: str) -> None:
    """Create a run's staging table. A run of the caller does this itself: Spark may outlive a killed caller."""
    with database.transaction() as connection:
        connection.execute("select minutehand.begin_load(%s, %s)", [load, run])


def staging_table(run: str) -> str:
    """Return the name of a run's staging table, as minutehand.staged_name does."""
    return f"staged_{run.replace('-', '')}"


def copy(connection: Connection, table: str, batches: Iterator[pa.RecordBatch]) -> None:
    """Send Arrow batches to Postgres with COPY, as CSV that Arrow writes."""
    columns = sql.SQL(", ").join(map(sql.Identifier, STAGED.names))
    with (
        connection.cursor() as cursor,
        cursor.copy(sql.SQL(COPY).format(sql.Identifier(table), columns)) as out,
    ):
        for batch in batches:
            encoded = pa.BufferOutputStream()
            csv.write_csv(batch, encoded, CSV)
            out.write(encoded.getvalue().to_pybytes())


def enter(database: Database, parameters: Mapping[str, Any]) -> None:
    """Enter a load, in one transaction with its row of the ledger."""
    with database.transaction() as connection:
        connection.execute(ENTER, parameters)


def load_parameters(copied: Sequence[Copied], terms: Terms) -> dict[str, Any]:
    """Return the parameters of `enqueue_load`: which attempt of a slice counts, the jobs before it, and the total."""
    counts = sorted((slice, each.attempt, jobs) for each in copied for slice, jobs in each.jobs.items())
    total = sum(jobs for _, _, jobs in counts)
    return {
        "load": terms.load,
        "on_conflict": terms.on_conflict,
        "slices": [slice for slice, _, _ in counts],
        "attempts": [attempt for _, attempt, _ in counts],
        "befores": [0, *accumulate(jobs for _, _, jobs in counts)][: len(counts)],
        "expected": total,
        "starts": terms.start,
        "spread": _spread(terms, total),
    }


def _spread(terms: Terms, jobs: int) -> timedelta | None:
    """Return the time over which all jobs are spread. Raises InputError if it would end after the year 9998."""
    if terms.rate is None:
        return terms.over
    check_spread(terms.rate / max(jobs, 1), None, terms.start)
    return timedelta(seconds=jobs / terms.rate)


class _Numbering:
    """Numbers the jobs of each slice and counts them. A row with a reason is not a job and gets the number 0."""

    def __init__(self, copied: Copied, partition: int) -> None:
        self._copied, self._partition = copied, partition

    def number(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return a batch with the columns of the staging table."""
        given = dict(zip(batch.schema.names, batch.columns, strict=True))
        if "tenant" in given:
            given["of_tenant"] = given.pop("tenant")
        slices = (
            np.asarray(given["slice"]) if "slice" in given else np.full(len(batch), self._partition, np.int64)
        )
        jobs = np.asarray(given["reason"].is_null()) if "reason" in given else np.ones(len(batch), bool)
        internal = {"attempt": pa.repeat(self._copied.attempt, len(batch)), "slice": pa.array(slices)}
        columns = given | internal | {"ordinal": pa.array(self._ordinals(slices, jobs))}
        arrays = [
            columns[field.name].cast(field.type)
            if field.name in columns
            else pa.nulls(len(batch), field.type)
            for field in STAGED
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=STAGED)

    def _ordinals(self, slices: np.ndarray, jobs: np.ndarray) -> np.ndarray:
        ordinals = np.zeros(len(slices), np.int64)
        for slice in np.unique(slices):
            in_slice = jobs & (slices == slice)
            before, count = self._copied.jobs.get(int(slice), 0), int(in_slice.sum())
            ordinals[in_slice] = np.arange(before, before + count)
            self._copied.jobs[int(slice)] = before + count
        self._copied.rejected += int((~jobs).sum())
        return ordinals
