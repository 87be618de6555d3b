"""Write data files: Parquet, one per day that a task meets. The day itself is in the folder's name, not in the file."""

import json
from datetime import UTC, date, datetime, timedelta
from types import TracebackType
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow.fs import PyFileSystem

from minutehand_pipeline.arrow import arrow_schema
from minutehand_pipeline.lake.delta import PARTITION, DataFile
from minutehand_pipeline.schemas import Home

# A task buffers this many rows of a day, and this many bytes of all its days, as row groups; Spark's batches of some
# thousand rows would be too small.
GROUP_ROWS, GROUP_BYTES = 250_000, 64 << 20
MILLISECOND = timedelta(milliseconds=1)


class DataFileWriter:
    """Writes a task's files. They are complete on exit; an object store does not show them before."""

    def __init__(self, filesystem: PyFileSystem, home: Home) -> None:
        """Store the destination. The first row creates the first file."""
        self._filesystem, self._home = filesystem, home
        self._open: dict[date, _OpenFile] = {}
        self.files: list[DataFile] = []

    def __enter__(self) -> "DataFileWriter":
        """Start writing."""
        return self

    def add(self, batch: pa.RecordBatch) -> None:
        """Write each row of a batch to its day's file."""
        days = batch.column(PARTITION)
        found: list[date] = pc.unique(days).to_pylist()
        for day in found:
            rows = batch if len(found) == 1 else batch.filter(pc.equal(days, pa.scalar(day, pa.date32())))
            if day not in self._open:
                self._open[day] = _OpenFile(self._filesystem, self._home, day)
            self._open[day].add(rows)
        if sum(file.buffered for file in self._open.values()) >= GROUP_BYTES:
            for file in self._open.values():
                file.flush()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Complete the files, unless an error occurred."""
        if error is None:
            self.files = [file.finish() for file in self._open.values()]


class _OpenFile:
    """A file being written, and the statistics that Delta stores with it."""

    def __init__(self, filesystem: PyFileSystem, home: Home, day: date) -> None:
        self._day = day
        self._path = f"{PARTITION}={day.isoformat()}/{uuid4()}.parquet"
        self._filesystem = filesystem
        filesystem.create_dir(self._path.rpartition("/")[0])
        self._schema = pa.schema([each for each in arrow_schema(home.schema) if each.name != PARTITION])
        self._stream = filesystem.open_output_stream(self._path)
        self._parquet = pq.ParquetWriter(self._stream, self._schema, compression="zstd")
        self._buffered: list[pa.RecordBatch] = []
        self._rows = self._bytes = self._written = 0
        self._ranges: dict[str, tuple[Any, Any]] = {}
        self._ranged = (home.key[0], home.dated)

    def add(self, batch: pa.RecordBatch) -> None:
        columns = [batch.column(each.name).cast(each.type) for each in self._schema]
        self._buffered.append(pa.RecordBatch.from_arrays(columns, schema=self._schema))
        self._rows += batch.num_rows
        self._bytes += batch.nbytes
        if self._rows >= GROUP_ROWS:
            self.flush()

    @property
    def buffered(self) -> int:
        """The bytes that the next row group has so far."""
        return self._bytes

    def finish(self) -> DataFile:
        self.flush()
        self._parquet.close()
        self._stream.close()
        size = self._filesystem.get_file_info(self._path).size
        return DataFile(self._path, size, self._day, self._written, json.dumps(self._stats()))

    def flush(self) -> None:
        """Write the buffered rows as a row group."""
        if not self._rows:
            return
        group = pa.Table.from_batches(self._buffered, self._schema)
        self._parquet.write_table(group, row_group_size=group.num_rows)
        for name in self._ranged:
            found = pc.min_max(group.column(name)).as_py()
            low, high = self._ranges.get(name, (found["min"], found["max"]))
            self._ranges[name] = (min(low, found["min"]), max(high, found["max"]))
        self._written += self._rows
        self._buffered, self._rows, self._bytes = [], 0, 0

    def _stats(self) -> dict[str, Any]:
        return {
            "numRecords": self._written,
            "minValues": {name: _bound(low) for name, (low, _) in self._ranges.items()},
            "maxValues": {name: _bound(high, up=True) for name, (_, high) in self._ranges.items()},
            "nullCount": dict.fromkeys(self._ranges, 0),
        }


def _bound(value: str | datetime, *, up: bool = False) -> str:
    """Return a bound as Delta stores it. A time is rounded outwards to milliseconds, so that it covers all rows."""
    if isinstance(value, str):
        return value
    moment = value.astimezone(UTC) + (MILLISECOND if up and value.microsecond % 1000 else timedelta(0))
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
