"""Read the queue's finished rows into Spark. Each task streams its pages as Arrow batches over ADBC."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import types as T
from pyspark.sql.datasource import DataSourceReader, InputPartition

from minutehand.database import Connection, Database, connect, conninfo, sql
from minutehand.settings import forget
from minutehand_pipeline.arrow import arrow_schema
from minutehand_pipeline.errors import InputError
from minutehand_pipeline.queue.columns import EXPRESSIONS
from minutehand_pipeline.queue.ranges import Pages, Selection, find_relations, select_text, split_pages
from minutehand_pipeline.queue.slots import slices, take_slot

if TYPE_CHECKING:
    from adbc_driver_postgresql import dbapi

# A hint: a larger row becomes a batch by itself. 16 MiB was measured to be no faster, and takes more memory.
BATCH_BYTES = 1 << 20
ISOLATION = "set transaction isolation level repeatable read, read only"


@dataclass
class Share(InputPartition):
    """The pages that one task reads."""

    pages: tuple[Pages, ...]

    def __init__(self, pages: Sequence[Pages]) -> None:
        """Store the pages. Spark's own constructor takes a single value."""
        super().__init__(tuple(pages))
        self.pages = tuple(pages)


class QueueReader(DataSourceReader):
    """Reads a selection. Each task has its own transaction; with a snapshot, all see the same rows.

    With slots, each task has a transaction for each slice of pages, in which it holds a slot.

    There is no `pushFilters`: in Spark 4.1 to 4.3 a pushed filter stays with the DataFrame, and later queries on it
    return wrong results. Days are selected by options instead.
    """

    def __init__(
        self,
        selection: Selection,
        schema: T.StructType,
        url: Callable[[], str],
        snapshot: str | None,
        tasks: int | None,
        slots: int | None = None,
    ) -> None:
        """Store the parameters. Planning opens no connection."""
        if snapshot is not None and not re.fullmatch(r"[0-9A-Fa-f]+(-[0-9A-Fa-f]+)+", snapshot):
            raise InputError(
                "snapshot must be an id from pg_export_snapshot() in a transaction that is still open"
            )
        if slots is not None and snapshot is None:
            raise InputError("slots requires a snapshot, because a task then reads in several transactions")
        self._selection, self._schema, self._url = selection, schema, url
        self._snapshot, self._tasks, self._slots = snapshot, tasks, slots

    def partitions(self) -> list[InputPartition]:
        """Split the pages that the days have now."""
        with closing(connect(self._url)) as connection:
            found = find_relations(connection, self._selection)
        shares = split_pages(found, self._tasks)
        if self._slots is not None:
            sizes = dict(found)
            shares = [
                tuple(s for each in share for s in slices(each, sizes[each.relation])) for share in shares
            ]
        return [Share(pages) for pages in shares] or [Share(())]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Stream the rows of a task's pages."""
        if not isinstance(partition, Share) or not partition.pages:
            return
        schema, expressions = arrow_schema(self._schema), EXPRESSIONS[self._selection.home.name]
        with self._open() as connection, connection.cursor() as cursor:
            self._begin(cursor)
            for pages in partition.pages:
                cursor.execute(select_text(self._selection, pages, expressions))
                for batch in cursor.fetch_record_batch():
                    yield _cast(batch, schema)
                if self._slots is not None and pages is not partition.pages[-1]:
                    # This frees the slot.
                    connection.commit()
                    self._begin(cursor)

    def _open(self) -> "dbapi.Connection":
        from adbc_driver_postgresql import dbapi

        try:
            return dbapi.connect(conninfo(self._url))
        except dbapi.OperationalError:
            # The secret was rotated or the token expired: fetch it again and retry once.
            forget()
            return dbapi.connect(conninfo(self._url))

    def _begin(self, cursor: "dbapi.Cursor") -> None:
        cursor.execute(ISOLATION)
        if self._snapshot is not None:
            # SET takes no parameters; the constructor has checked the id.
            cursor.execute(f"set transaction snapshot '{self._snapshot}'")
        if self._slots is not None:
            take_slot(partial(_fetch_one, cursor), self._slots)
        cursor.adbc_statement.set_options(**{"adbc.postgresql.batch_size_hint_bytes": str(BATCH_BYTES)})


def _fetch_one(cursor: "dbapi.Cursor", text: str) -> object:
    cursor.execute(text)
    return cursor.fetchone()


@contextmanager
def on_snapshot(database: Database, snapshot: str) -> Iterator[Connection]:
    """Open a transaction that sees a snapshot whose transaction is still open."""
    with database.transaction() as connection:
        connection.execute(ISOLATION)
        connection.execute(sql.SQL("set transaction snapshot {}").format(sql.Literal(snapshot)))
        yield connection


def _cast(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    columns = [column.cast(field.type) for column, field in zip(batch.columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=schema)
