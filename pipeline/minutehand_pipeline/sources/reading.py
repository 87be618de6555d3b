"""Read the queue's finished rows into Spark: each task streams its share of the pages as Arrow batches, by ADBC."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import types as T
from pyspark.sql.datasource import DataSourceReader, InputPartition

from minutehand.database import connect, conninfo
from minutehand.settings import forget
from minutehand_pipeline.errors import InputError
from minutehand_pipeline.sources.arrow import arrow_schema
from minutehand_pipeline.sources.columns import EXPRESSIONS
from minutehand_pipeline.sources.ranges import Pages, Wanted, query, relations, share

if TYPE_CHECKING:
    from adbc_driver_postgresql import dbapi

BATCH_BYTES = (
    1 << 20
)  # a hint: a row of ten megabytes is a batch of its own. 16 MiB is no faster, and holds more
ISOLATION = "set transaction isolation level repeatable read, read only"


@dataclass
class Share(InputPartition):
    """What one task reads."""

    pages: tuple[Pages, ...]

    def __init__(self, pages: Sequence[Pages]) -> None:
        """Remember the pages; Spark's own constructor takes one value of any kind."""
        super().__init__(tuple(pages))
        self.pages = tuple(pages)


class QueueReader(DataSourceReader):
    """Reads what is wanted, each task in a transaction of its own, all on one snapshot if one is given.

    No `pushFilters`: in Spark 4.1 to 4.3 a filter that was pushed sticks to the DataFrame, and the next question of it
    is answered wrongly. Bounds are options.
    """

    def __init__(
        self,
        wanted: Wanted,
        schema: T.StructType,
        url: Callable[[], str],
        snapshot: str | None,
        tasks: int | None,
    ) -> None:
        """Remember what is wanted; nothing is opened in the process that only plans."""
        if snapshot is not None and not re.fullmatch(r"[0-9A-Fa-f]+(-[0-9A-Fa-f]+)+", snapshot):
            raise InputError("snapshot is what pg_export_snapshot() says, while its transaction is open")
        self._wanted, self._schema, self._url = wanted, schema, url
        self._snapshot, self._tasks = snapshot, tasks

    def partitions(self) -> list[InputPartition]:
        """Cut the days' pages into shares, as they are at this moment."""
        with closing(connect(self._url)) as connection:
            found = relations(connection, self._wanted)
        return [Share(pages) for pages in share(found, self._tasks)] or [Share(())]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Stream a share's rows."""
        if not isinstance(partition, Share) or not partition.pages:
            return
        schema, expressions = arrow_schema(self._schema), EXPRESSIONS[self._wanted.home.name]
        with self._open() as connection, connection.cursor() as cursor:
            self._begin(cursor)
            for pages in partition.pages:
                cursor.execute(query(self._wanted, pages, expressions))
                for batch in cursor.fetch_record_batch():
                    yield _as(batch, schema)

    def _open(self) -> "dbapi.Connection":
        from adbc_driver_postgresql import dbapi

        try:
            return dbapi.connect(conninfo(self._url))
        except dbapi.OperationalError:
            forget()  # a secret that was rotated, or a token that is over: asked for anew, and tried once
            return dbapi.connect(conninfo(self._url))

    def _begin(self, cursor: "dbapi.Cursor") -> None:
        cursor.execute(ISOLATION)
        if self._snapshot is not None:
            cursor.execute(
                f"set transaction snapshot '{self._snapshot}'"
            )  # its form was checked: it takes no parameter
        cursor.adbc_statement.set_options(**{"adbc.postgresql.batch_size_hint_bytes": str(BATCH_BYTES)})


def _as(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    columns = [column.cast(field.type) for column, field in zip(batch.columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=schema)
