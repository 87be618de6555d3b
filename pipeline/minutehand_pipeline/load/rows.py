"""Read rows of files as jobs. Text uses the parser of `enqueue --file`; Parquet is converted by column."""

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
from minutehand_pipeline.arrow import arrow_schema
from minutehand_pipeline.load.files import BOM, UNSUPPORTED, Piece, open_filesystem
from minutehand_pipeline.load.headers import check_headers, check_retry
from minutehand_pipeline.load.parquet import job_columns

BATCH = 10_000
BATCH_BYTES = 8 << 20
# The csv module's default limit is half the default payload limit.
CELL_BYTES = 128 << 20
# The csv module's error for a line that ends in a quoted cell.
UNCLOSED = "unexpected end of data"
# Characters of a line that are stored with its fault.
RAW = 10_000

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
        T.StructField("line", T.LongType()),  # in its piece, from 1
        T.StructField("fault", T.StringType()),  # why the line cannot be read
        T.StructField("raw", T.StringType()),  # the text of a line with a fault
        *JOB.fields,
    ]
)

Batches = Iterator[pa.RecordBatch]
Parse = Callable[[Piece, bytes], Any]


def reader(pieces: Sequence[Piece], zone: str | None, kind: str | None) -> Callable[[Batches], Batches]:
    """Return the function that reads pieces by number. `kind` applies to lines that have none."""

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
    for number, line in read_lines(piece):
        if line.strip():
            rows.append((number, *_row(parse, piece, line, zone, kind)))
            size += len(line)
        if len(rows) == BATCH or size > BATCH_BYTES:
            yield _batch(piece, rows)
            rows, size = [], 0
    if rows:
        yield _batch(piece, rows)


def read_lines(piece: Piece) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that start in a piece, numbered from 1. Blank lines count."""
    filesystem, path = open_filesystem(piece.file.uri)
    with filesystem.open_input_file(path) as opened:
        opened.seek(max(piece.first - 1, 0))
        text = io.BufferedReader(opened, 1 << 20)
        place, number = piece.first, 0
        if piece.first:
            # Skip the rest of the line before, which may be only its line break.
            place += len(text.readline()) - 1
        while place < piece.last and (line := text.readline()):
            number += 1
            yield number, line.removeprefix(BOM) if place == 0 else line
            place += len(line)


def _row(parse: Parse, piece: Piece, line: bytes, zone: ZoneInfo | None, kind: str | None) -> tuple[Any, ...]:
    try:
        fields = _job_fields(parse(piece, line), zone, kind)
        return (None, None, *(_arrow_value(fields[name]) for name in JOB.names))
    except UnicodeEncodeError:
        # A key has a lone surrogate.
        return (sentence("text_is_text"), readable(line), *(None for _ in JOB.names))
    except (ValueError, InvalidJobError, csv.Error, RecursionError) as error:
        return (json_fault(error), readable(line), *(None for _ in JOB.names))


def readable(line: bytes) -> str:
    """Return the start of a line as text that Postgres accepts."""
    raw = line[: 4 * RAW].decode("utf-8", "replace").rstrip("\r\n")[:RAW]
    return raw.replace("\0", "\ufffd")


def _json_row(_piece: Piece, line: bytes) -> Any:
    return parse_json(line.decode())


def _csv_row(piece: Piece, line: bytes) -> Any:
    try:
        cells = next(csv.reader([line.decode().rstrip("\r\n")], strict=True))
    except csv.Error as error:
        if str(error) != UNCLOSED:
            raise
        raise ValueError("a quoted cell is not closed; cells must not contain line breaks") from None
    return read_cells(list(piece.header), cells)


def _job_fields(line: Any, zone: ZoneInfo | None, kind: str | None) -> dict[str, Any]:
    """Return a line's fields with the types of the staging table. Raises the same errors as `enqueue`."""
    if kind is not None and isinstance(line, dict) and line.get("kind") is None:
        line["kind"] = kind
    job = new_job(line, zone)
    for name in UNSUPPORTED:
        if getattr(job, name) is not None:
            raise ValueError(f"a load does not support the field {name!r}; use minutehand enqueue --file")
    fields = parameters(job, lambda: datetime.now(UTC))
    check_headers(fields["headers"])
    check_retry(fields["retry"])
    for name in ("kind", "queue", "key", "tenant"):
        if "\0" in (fields[name] or ""):
            raise InvalidJobError("text_is_text", sentence("text_is_text"))
        (fields[name] or "").encode()
    return fields


def _arrow_value(value: Any) -> Any:
    if isinstance(value, datetime):
        try:
            # pandas on Spark sets PYARROW_IGNORE_TIMEZONE, and Arrow then ignores zones.
            return value.astimezone(UTC)
        except OverflowError:
            raise InvalidJobError("time_is_finite", sentence("time_is_finite")) from None
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
            fields, faults = job_columns(batch, zone)
            first = {
                "slice": pa.repeat(piece.number, rows),
                "source": pa.repeat(piece.file.uri, rows),
                "line": pa.array(range(line + 1, line + rows + 1)),
                "fault": faults,
            }
            line += rows
            columns = {**first, **fields}
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
