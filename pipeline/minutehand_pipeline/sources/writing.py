"""Write jobs to the queue: tasks copy into a table that no worker looks at, and one transaction enters them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from typing import Any
from uuid import uuid4

import numpy as np
import pgpq
import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import types as T
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage

from minutehand.database import Connection, Database, sql
from minutehand.errors import InvalidJobError, PayloadError
from minutehand_pipeline.errors import InputError

# The columns of minutehand.staged, after those that say which attempt staged a row, and as which of its slice.
TEXTS = ("kind", "payload", "queue", "key", "retry", "headers", "of_tenant", "source", "reason", "raw")
STAGED = pa.schema(
    [("attempt", pa.string()), ("slice", pa.int64()), ("ordinal", pa.int64())]
    + [(name, pa.string()) for name in TEXTS]
    + [("run_at", pa.timestamp("us", "UTC")), ("delay", pa.float64()), ("timeout", pa.float64())]
    + [("priority", pa.int32()), ("max_attempts", pa.int32()), ("personal", pa.bool_()), ("line", pa.int64())]
)
OWN = ("attempt", "slice", "ordinal")
COLUMNS = ("slice", "tenant", *(n for n in STAGED.names if n not in OWN and n != "of_tenant"))

FASTEST = 1_000_000  # jobs a second: two at one moment would come in no order
END = datetime(9999, 1, 1, tzinfo=UTC)

UNREADABLE = "22P02"  # invalid_text_representation

COPY = "copy minutehand.{} ({}) from stdin (format binary)"
ENTER = """
select * from minutehand.enqueue_load(%(load)s, %(run)s, %(attempts)s, %(slices)s, %(befores)s, %(on_conflict)s,
                                      %(rejected)s, %(starts)s, %(spread)s)
"""


@dataclass(frozen=True)
class Terms:
    """How a load is entered.

    `load` names it, for good; `run` is this run of it. Who says the run ends it, and may read the rejected rows until
    then. `rate` is jobs a second, `over` the time that all are spread over.
    """

    load: str
    on_conflict: str = "replace"
    run: str | None = None
    most_rejects: int | None = None
    starts: datetime | None = None
    rate: float | None = None
    over: timedelta | None = None


@dataclass
class Copied(WriterCommitMessage):
    """What an attempt at a task has staged: how many jobs of each slice, and how many rows that are none."""

    attempt: str
    jobs: dict[int, int] = field(default_factory=dict)
    rejected: int = 0


class QueueWriter(DataSourceArrowWriter):
    """Enters the rows of a frame as jobs, all or none, and each load once."""

    def __init__(self, terms: Terms, schema: T.StructType, url: Callable[[], str]) -> None:
        """Open the run's table; in the process that plans, before any task begins."""
        if unknown := [name for name in schema.names if name not in COLUMNS]:
            raise InputError(f"a job has no field {unknown[0]!r}; write any of {', '.join(COLUMNS)}")
        if "kind" not in schema.names:
            raise InputError("the frame has no column kind")
        self._terms, self._url = terms, url
        self._run = terms.run or str(uuid4())
        with closing(Database(url)) as database, database.transaction() as connection:
            connection.execute("select minutehand.begin_load(%s, %s)", [terms.load, self._run])

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        """Copy a task's rows, in one transaction of this attempt's own."""
        context = TaskContext.get()
        copied = Copied(str(uuid4()))
        numbered = _Numbered(copied, context.partitionId() if context else 0)
        with (
            _no_json("payload"),
            closing(Database(self._url)) as database,
            database.transaction() as connection,
        ):
            copy(connection, staged(self._run), (numbered.batch(each) for each in iterator))
        return copied

    def commit(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        """Enter what the named attempts have staged; nothing, where the ledger has this load."""
        told = [message for message in messages if isinstance(message, Copied)]
        rejected = sum(copied.rejected for copied in told)
        check_rejects(rejected, self._terms.most_rejects)
        with closing(Database(self._url)) as database:
            with database.transaction() as connection:
                connection.execute("select minutehand.announce_load(%s)", [self._run])
            said = asked(told, self._terms) | {"run": self._run, "rejected": rejected}
            with _no_json("retry or headers"):
                database.retry_on_conflict(lambda: enter(database, said))
            if self._terms.run is None:
                self._end(database)

    def abort(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        """Drop what was staged, where nobody waits for the rejected rows of it."""
        if self._terms.run is None:
            with closing(Database(self._url)) as database:
                self._end(database)

    def _end(self, database: Database) -> None:
        with database.transaction() as connection:
            connection.execute("select minutehand.end_load(%s)", [self._run])


def check_rejects(rejected: int, most: int | None) -> None:
    """Raise InputError where more rows were rejected than may be."""
    if most is not None and rejected > most:
        raise InputError(f"{rejected} rows were rejected, and {most} may be: nothing was enqueued")


@contextmanager
def _no_json(what: str) -> Iterator[None]:
    """Say what is not JSON: of all that Postgres reads from text here, only that can be written wrongly."""
    try:
        yield
    except InvalidJobError as error:
        if getattr(error.__cause__, "sqlstate", None) != UNREADABLE:
            raise
        raise PayloadError("payload_is_json", f"the {what} of a row is not JSON") from None


def staged(run: str) -> str:
    """Return the name of a run's table, as minutehand.staged_name does."""
    return f"staged_{run.replace('-', '')}"


def copy(connection: Connection, table: str, batches: Iterator[pa.RecordBatch]) -> None:
    """Send Arrow batches as Postgres's binary COPY."""
    columns = sql.SQL(", ").join(map(sql.Identifier, STAGED.names))
    encoder = pgpq.ArrowToPostgresBinaryEncoder(STAGED)
    with (
        connection.cursor() as cursor,
        cursor.copy(sql.SQL(COPY).format(sql.Identifier(table), columns)) as out,
    ):
        out.write(encoder.write_header())
        for batch in batches:
            out.write(encoder.write_batch(batch))
        out.write(encoder.finish())


def enter(database: Database, asked: Mapping[str, Any]) -> None:
    """Enter a load, in one transaction with its row of the ledger."""
    with database.transaction() as connection:
        connection.execute(ENTER, asked)


def asked(told: Sequence[Copied], terms: Terms) -> dict[str, Any]:
    """Say which attempt of each slice counts, and how many jobs come before it."""
    counts = sorted((slice, copied.attempt, jobs) for copied in told for slice, jobs in copied.jobs.items())
    total = sum(jobs for _, _, jobs in counts)
    return {
        "load": terms.load,
        "on_conflict": terms.on_conflict,
        "slices": [slice for slice, _, _ in counts],
        "attempts": [attempt for _, attempt, _ in counts],
        "befores": [0, *accumulate(jobs for _, _, jobs in counts)][: len(counts)],
        "starts": terms.starts,
        "spread": _spread(terms, total),
    }


def _spread(terms: Terms, jobs: int) -> timedelta | None:
    """Return the time that all are spread over; raise InputError where that goes beyond the moments there are."""
    if terms.rate is None:
        return terms.over
    check_terms(terms.rate / max(jobs, 1), None, terms.starts)
    return timedelta(seconds=jobs / terms.rate)


def check_terms(rate: float | None, over: timedelta | None, starts: datetime | None) -> None:
    """Raise InputError where jobs would come faster than one a microsecond, all at once, or after the year 9998."""
    if rate is not None and over is not None:
        raise InputError("say rate or over, not both")
    if rate is not None and not 0 < rate <= FASTEST:
        raise InputError("a rate is above zero and at most a million a second")
    if over is not None and over <= timedelta():
        raise InputError("over is a duration above zero")
    now = datetime.now(UTC)
    seconds = 1 / rate if rate is not None else over.total_seconds() if over is not None else 0
    if seconds > (END - max(starts or now, now)).total_seconds():
        raise InputError(
            "spread like that, the last job comes after the year 9998: say a higher rate or a shorter over"
        )


class _Numbered:
    """Gives each job its number in its slice, and counts them; a row with a reason is none, and has the number 0."""

    def __init__(self, copied: Copied, partition: int) -> None:
        self._copied, self._partition = copied, partition

    def batch(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return a batch as the run's table takes it."""
        there = dict(zip(batch.schema.names, batch.columns, strict=True))
        if "tenant" in there:
            there["of_tenant"] = there.pop("tenant")
        slices = (
            np.asarray(there["slice"]) if "slice" in there else np.full(len(batch), self._partition, np.int64)
        )
        jobs = np.asarray(there["reason"].is_null()) if "reason" in there else np.ones(len(batch), bool)
        own = {"attempt": pa.repeat(self._copied.attempt, len(batch)), "slice": pa.array(slices)}
        columns = there | own | {"ordinal": pa.array(self._ordinals(slices, jobs))}
        return pa.RecordBatch.from_arrays(
            [
                columns[f.name].cast(f.type) if f.name in columns else pa.nulls(len(batch), f.type)
                for f in STAGED
            ],
            schema=STAGED,
        )

    def _ordinals(self, slices: np.ndarray, jobs: np.ndarray) -> np.ndarray:
        ordinals = np.zeros(len(slices), np.int64)
        for slice in np.unique(slices):
            of_it = jobs & (slices == slice)
            before, count = self._copied.jobs.get(int(slice), 0), int(of_it.sum())
            ordinals[of_it] = np.arange(before, before + count)
            self._copied.jobs[int(slice)] = before + count
        self._copied.rejected += int((~jobs).sum())
        return ordinals
