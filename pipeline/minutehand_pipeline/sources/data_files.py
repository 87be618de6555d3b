"""Data files: Parquet, one for each day that a task meets, without the day, which the folder's name says."""

import json
from datetime import UTC, date, datetime, timedelta
from types import TracebackType
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow.fs import PyFileSystem

from minutehand_pipeline.lake import PARTITION, DataFile
from minutehand_pipeline.schemas import Home
from minutehand_pipeline.sources.arrow import arrow_schema

# A row group is as much as a task holds of a day: batches of some thousand rows each would make it a poor one.
GROUP_ROWS, GROUP_BYTES = 250_000, 64 << 20
MILLISECOND = timedelta(milliseconds=1)


class Written:
    """The files that a task writes. They are whole when it is left, and on an object store not there before."""

    def __init__(self, filesystem: PyFileSystem, home: Home) -> None:
        """Remember where; no file is made before there is a row."""
        self._filesystem, self._home = filesystem, home
        self._open: dict[date, _File] = {}
        self.files: list[DataFile] = []

    def __enter__(self) -> "Written":
        """Begin."""
        return self

    def add(self, batch: pa.RecordBatch) -> None:
        """Write a batch, each row to its day's file."""
        days = batch.column(PARTITION)
        found: list[date] = pc.unique(days).to_pylist()
        for day in found:
            rows = batch if len(found) == 1 else batch.filter(pc.equal(days, pa.scalar(day, pa.date32())))
            if day not in self._open:
                self._open[day] = _File(self._filesystem, self._home, day)
            self._open[day].add(rows)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Finish the files, unless something failed."""
        if error is None:
            self.files = [file.finish() for file in self._open.values()]


class _File:
    """One file while it is written, and what Delta wants to know of it."""

    def __init__(self, filesystem: PyFileSystem, home: Home, day: date) -> None:
        self._day = day
        self._path = f"{PARTITION}={day.isoformat()}/{uuid4()}.parquet"
        self._filesystem = filesystem
        filesystem.create_dir(self._path.rpartition("/")[0])
        self._schema = pa.schema([each for each in arrow_schema(home.schema) if each.name != PARTITION])
        self._stream = filesystem.open_output_stream(self._path)
        self._parquet = pq.ParquetWriter(self._stream, self._schema, compression="zstd")
        self._waiting: list[pa.RecordBatch] = []
        self._rows = self._bytes = self._written = 0
        self._ranges: dict[str, tuple[Any, Any]] = {}
        self._ranged = (home.key[0], home.dated)

    def add(self, batch: pa.RecordBatch) -> None:
        columns = [batch.column(each.name).cast(each.type) for each in self._schema]
        self._waiting.append(pa.RecordBatch.from_arrays(columns, schema=self._schema))
        self._rows += batch.num_rows
        self._bytes += batch.nbytes
        if self._rows >= GROUP_ROWS or self._bytes >= GROUP_BYTES:
            self._write()

    def finish(self) -> DataFile:
        self._write()
        self._parquet.close()
        self._stream.close()
        size = self._filesystem.get_file_info(self._path).size
        return DataFile(self._path, size, self._day, self._written, json.dumps(self._stats()))

    def _write(self) -> None:
        if not self._rows:
            return
        group = pa.Table.from_batches(self._waiting, self._schema)
        self._parquet.write_table(group, row_group_size=group.num_rows)
        for name in self._ranged:
            found = pc.min_max(group.column(name)).as_py()
            low, high = self._ranges.get(name, (found["min"], found["max"]))
            self._ranges[name] = (min(low, found["min"]), max(high, found["max"]))
        self._written += self._rows
        self._waiting, self._rows, self._bytes = [], 0, 0

    def _stats(self) -> dict[str, Any]:
        return {
            "numRecords": self._written,
            "minValues": {name: _stat(low) for name, (low, _) in self._ranges.items()},
            "maxValues": {name: _stat(high, up=True) for name, (_, high) in self._ranges.items()},
            "nullCount": dict.fromkeys(self._ranges, 0),
        }


def _stat(value: str | datetime, *, up: bool = False) -> str:
    """Return a bound as Delta keeps it: of a moment whole milliseconds, so that no row lies outside."""
    if isinstance(value, str):
        return value
    moment = value.astimezone(UTC) + (MILLISECOND if up and value.microsecond % 1000 else timedelta(0))
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
