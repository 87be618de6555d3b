"""Rows of files as jobs: text by the functions of `enqueue --file`, Parquet by its columns; faults stay with them."""

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import types as T

from minutehand.errors import InvalidJobError
from minutehand.model.new_job import parameters
from minutehand.model.parse_job import json_fault, new_job, read_cells
from minutehand.model.parsing import parse_json
from minutehand.model.rules import sentence
from minutehand_pipeline.load.columns import job_columns
from minutehand_pipeline.load.files import BOM, NOT_HERE, Piece, open_filesystem
from minutehand_pipeline.load.headers import check_headers, check_retry
from minutehand_pipeline.sources.arrow import arrow_schema

BATCH = 10_000
BATCH_BYTES = 8 << 20
CELL_BYTES = 128 << 20  # csv's own limit is half of what a payload may have
RAW = 10_000  # characters of a line that are kept with its fault

JOB = T.StructType(
    [
        T.StructField("kind", T.StringType()),
        T.StructField("payload", T.StringType()),
        T.StructField("queue", T.StringType()),
        T.StructField("key", T.StringType()),
        T.StructField("run_at", T.TimestampType()),
        T.StructField("delay", T.DoubleType()),  # seconds
        T.StructField("priority", T.LongType()),
        T.StructField("max_attempts", T.LongType()),
        T.StructField("retry", T.StringType()),
        T.StructField("timeout", T.DoubleType()),  # seconds
        T.StructField("headers", T.StringType()),
        T.StructField("personal", T.BooleanType()),
        T.StructField("tenant", T.StringType()),
    ]
)
ROWS = T.StructType(
    [
        T.StructField("slice", T.LongType()),
        T.StructField("source", T.StringType()),
        T.StructField("line", T.LongType()),  # in its slice, from 1
        T.StructField("fault", T.StringType()),  # why it cannot be read; then `raw` has what stands there
        T.StructField("raw", T.StringType()),
        *JOB.fields,
    ]
)

Batches = Iterator[pa.RecordBatch]
Parse = Callable[[Piece, bytes], Any]


def reader(pieces: Sequence[Piece], zone: str | None, kind: str | None) -> Callable[[Batches], Batches]:
    """Return what reads the pieces whose numbers come in; `kind` is of the lines that say none."""

    def read(numbers: Batches) -> Batches:
        known = ZoneInfo(zone) if zone else None
        for batch in numbers:
            for number in batch.column(0).to_pylist():
                yield from _READERS[pieces[number].file.format](pieces[number], known, kind)

    return read


def _read_text(piece: Piece, zone: ZoneInfo | None, kind: str | None) -> Batches:
    parse = _csv_row if piece.file.format == "csv" else _json_row
    csv.field_size_limit(CELL_BYTES)
    rows: list[tuple[Any, ...]] = []
    size = 0
    for number, line in lines(piece):
        if line.strip():
            rows.append((number, *_row(parse, piece, line, zone, kind)))
            size += len(line)
        if len(rows) == BATCH or size > BATCH_BYTES:
            yield _batch(piece, rows)
            rows, size = [], 0
    if rows:
        yield _batch(piece, rows)


def lines(piece: Piece) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that begin in a piece, numbered within it from 1; blank ones count."""
    filesystem, path = open_filesystem(piece.file.uri)
    with filesystem.open_input_file(path) as opened:
        opened.seek(max(piece.first - 1, 0))
        text = io.BufferedReader(opened, 1 << 20)
        place, number = piece.first, 0
        if piece.first:
            place += len(text.readline()) - 1  # the end of the line before, if it is only that
        while place < piece.last and (line := text.readline()):
            number += 1
            yield number, line.removeprefix(BOM) if place == 0 else line
            place += len(line)


def _row(parse: Parse, piece: Piece, line: bytes, zone: ZoneInfo | None, kind: str | None) -> tuple[Any, ...]:
    try:
        said = _said(parse(piece, line), zone, kind)
        return (None, None, *(_plain(said[name]) for name in JOB.names))
    except (ValueError, InvalidJobError, csv.Error, RecursionError) as error:
        return (json_fault(error), readable(line), *(None for _ in JOB.names))


def readable(line: bytes) -> str:
    """Return the beginning of a line, as text that Postgres takes."""
    raw = line[: 4 * RAW].decode("utf-8", "replace").rstrip("\r\n")[:RAW]
    return raw.replace("\0", "\ufffd")


def _json_row(_piece: Piece, line: bytes) -> Any:
    return parse_json(line.decode())


def _csv_row(piece: Piece, line: bytes) -> Any:
    cells = next(csv.reader([line.decode().rstrip("\r\n")], strict=True))
    return read_cells(list(piece.header), cells)


def _said(asked: Any, zone: ZoneInfo | None, kind: str | None) -> dict[str, Any]:
    """Return a line's fields with the types that they have in the table; raise what `enqueue` would."""
    if kind is not None and isinstance(asked, dict) and asked.get("kind") is None:
        asked["kind"] = kind
    job = new_job(asked, zone)
    for name in NOT_HERE:
        if getattr(job, name) is not None:
            raise ValueError(f"a load has no field {name!r}; minutehand enqueue --file has")
    said = parameters(job, lambda: datetime.now(UTC))
    check_headers(said["headers"])
    check_retry(said["retry"])
    for name in ("kind", "queue", "key", "tenant"):
        if "\0" in (said[name] or ""):
            raise InvalidJobError("text_is_text", sentence("text_is_text"))
        (said[name] or "").encode()
    return said


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        try:
            # Arrow takes no notice of zones where pandas on Spark has set PYARROW_IGNORE_TIMEZONE.
            return value.astimezone(UTC)
        except OverflowError:
            raise InvalidJobError("moment_is_finite", sentence("moment_is_finite")) from None
    return value.total_seconds() if isinstance(value, timedelta) else value


def _batch(piece: Piece, rows: list[tuple[Any, ...]]) -> pa.RecordBatch:
    schema = arrow_schema(ROWS)
    columns = [[piece.number] * len(rows), [piece.file.uri] * len(rows), *zip(*rows, strict=True)]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _read_parquet(piece: Piece, zone: ZoneInfo | None, _kind: str | None) -> Batches:
    filesystem, path = open_filesystem(piece.file.uri)
    schema, line = arrow_schema(ROWS), 0
    with filesystem.open_input_file(path) as opened:
        for batch in pq.ParquetFile(opened).iter_batches(BATCH, row_groups=[piece.first]):
            rows = len(batch)
            said, faults = job_columns(batch, zone)
            first = {
                "slice": pa.repeat(piece.number, rows),
                "source": pa.repeat(piece.file.uri, rows),
                "line": pa.array(range(line + 1, line + rows + 1)),
                "fault": faults,
            }
            line += rows
            columns = {**first, **said}
            yield pa.RecordBatch.from_arrays(
                [
                    columns[f.name].cast(f.type) if f.name in columns else pa.nulls(rows, f.type)
                    for f in schema
                ],
                schema=schema,
            )


_READERS: dict[str, Callable[[Piece, ZoneInfo | None, str | None], Batches]] = {
    "parquet": _read_parquet,
    "csv": _read_text,
    "ndjson": _read_text,
}
