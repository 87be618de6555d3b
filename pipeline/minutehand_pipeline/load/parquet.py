"""Convert Parquet columns to columns of jobs. Typed columns are cast; text columns are parsed value by value."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as kinds

from minutehand.model.new_job import parameters
from minutehand.model.parse_job import json_fault, new_job
from minutehand.model.parsing import parse_json, read_duration, read_time
from minutehand.model.payload import encode
from minutehand.model.rules import sentence
from minutehand_pipeline.load.headers import check_headers, check_retry

TICKS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
# Seconds since 1970 at the start of the year 1 and at the end of the year 9998.
FIRST, LAST = -62_135_596_800, 253_370_764_799

Faults = dict[int, str]
Convert = Callable[[Any, ZoneInfo | None], Any]


def job_columns(batch: pa.RecordBatch, zone: ZoneInfo | None) -> tuple[dict[str, pa.Array], pa.Array]:
    """Return the columns of a load, and for each row the reason why it cannot be read, or null."""
    faults: Faults = {}
    columns = {
        name: _READ[name](name, _decoded(column), zone, faults)
        for name, column in zip(batch.schema.names, batch.columns, strict=True)
    }
    reasons = [faults.get(row) for row in range(len(batch))] if faults else None
    return columns, pa.array(reasons, pa.string()) if reasons else pa.nulls(len(batch), pa.string())


def accepts_type(name: str, kind: pa.DataType) -> bool:
    """Whether a field can be read from a column of a type."""
    kind = kind.value_type if kinds.is_dictionary(kind) else kind
    return kinds.is_null(kind) or any(matches(kind) for matches in _TYPES[name])


def expected_types(name: str) -> str:
    """Return the types from which a field can be read, in words."""
    return " or ".join(_WORDS[matches] for matches in _TYPES[name])


def _text(kind: pa.DataType) -> bool:
    return bool(kinds.is_string(kind) or kinds.is_large_string(kind) or kinds.is_string_view(kind))


def _number(kind: pa.DataType) -> bool:
    return bool(kinds.is_integer(kind) or kinds.is_floating(kind))


def _decoded(column: pa.Array) -> pa.Array:
    return column.dictionary_decode() if kinds.is_dictionary(column.type) else column


def _as_text(name: str, column: pa.Array, zone: ZoneInfo | None, faults: Faults) -> pa.Array:
    text = column.cast(pa.string())
    if _is_utf8(text):
        return text
    return pa.array(_each(name, text, zone, faults, lambda value, _: value), pa.string())


def _is_utf8(column: pa.Array) -> bool:
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _as_integer(_name: str, column: pa.Array, _zone: ZoneInfo | None, _faults: Faults) -> pa.Array:
    return column.cast(pa.int64(), safe=False)


def _as_boolean(_name: str, column: pa.Array, _zone: ZoneInfo | None, _faults: Faults) -> pa.Array:
    return column.cast(pa.bool_())


def _as_seconds(name: str, column: pa.Array, zone: ZoneInfo | None, faults: Faults) -> pa.Array:
    if _number(column.type):
        # Unsafe, to round to the nearest: values that lose precision are rejected as too long anyway.
        return column.cast(pa.float64(), safe=False)
    return pa.array(
        _each(name, column, zone, faults, lambda text, _: read_duration(text).total_seconds()), pa.float64()
    )


def _as_moment(name: str, column: pa.Array, zone: ZoneInfo | None, faults: Faults) -> pa.Array:
    utc = pa.timestamp("us", "UTC")
    if kinds.is_timestamp(column.type):
        column = _in_range(column, faults).cast(pa.timestamp("us", column.type.tz), safe=False)
        if column.type.tz is not None:
            return column.cast(utc)
    return pa.array(_each(name, column.cast(pa.string()), zone, faults, _read_utc), utc)


def _read_utc(text: str, zone: ZoneInfo | None) -> datetime:
    # pandas on Spark sets PYARROW_IGNORE_TIMEZONE, and Arrow then ignores zones.
    return read_time(text, zone).astimezone(UTC)


def _in_range(column: pa.Array, faults: Faults) -> pa.Array:
    """Set times outside Python's range to null, because a cast to microseconds would wrap them."""
    ticks = TICKS[column.type.unit]
    first, last = (min(max(second * ticks, -(2**63)), 2**63 - 1) for second in (FIRST, LAST))
    since = column.cast(pa.int64())
    in_range = pc.and_(pc.greater_equal(since, first), pc.less_equal(since, last))
    for row in pc.indices_nonzero(pc.invert(in_range)).to_pylist():
        faults.setdefault(row, sentence("time_is_finite"))
    return pc.if_else(in_range, column, pa.scalar(None, column.type))


def _as_json(name: str, column: pa.Array, zone: ZoneInfo | None, faults: Faults) -> pa.Array:
    """Check that payloads are JSON. They are stored as written, to the last digit."""
    decode = msgspec.json.Decoder().decode

    def check(text: str, _zone: ZoneInfo | None) -> str:
        try:
            decode(text)
        except (msgspec.MsgspecError, RecursionError, ValueError):
            # Slower, but accepts long numbers and explains errors.
            return encode(parse_json(text))
        return text

    return pa.array(_each(name, column.cast(pa.string()), zone, faults, check), pa.string())


def _as_headers(name: str, column: pa.Array, zone: ZoneInfo | None, faults: Faults) -> pa.Array:
    def check(text: str, _zone: ZoneInfo | None) -> str:
        headers: str = encode(parse_json(text))
        check_headers(headers)
        return headers

    return pa.array(_each(name, column, zone, faults, check), pa.string())


def _as_retry(name: str, column: pa.Array, zone: ZoneInfo | None, faults: Faults) -> pa.Array:
    def read(text: str, zone: ZoneInfo | None) -> Any:
        job = new_job({"kind": "k", "retry": parse_json(text)}, zone)
        retry = parameters(job, lambda: datetime.now(UTC))["retry"]
        check_retry(retry)
        return retry

    return pa.array(_each(name, column, zone, faults, read), pa.string())


def _each(name: str, column: pa.Array, zone: ZoneInfo | None, faults: Faults, convert: Convert) -> list[Any]:
    """Convert the values of a column. A value that cannot be read becomes null and a fault of its row."""
    read: list[Any] = []
    for row, value in enumerate(_values(column)):
        try:
            read.append(None if value is None else convert(_decoded_text(value), zone))
        except OverflowError:
            faults.setdefault(row, sentence("time_is_finite"))
            read.append(None)
        except (ValueError, TypeError, RecursionError) as error:
            fault = json_fault(error)
            faults.setdefault(row, f"{name}: {fault}" if fault.startswith("not JSON") else fault)
            read.append(None)
    return read


def _values(column: pa.Array) -> list[Any]:
    try:
        return list(column.to_pylist())
    except UnicodeDecodeError:
        return list(column.cast(pa.binary()).to_pylist())


def _decoded_text(value: Any) -> Any:
    return value.decode() if isinstance(value, bytes) else value


_TEXT, _INTEGER, _BOOLEAN = (_text,), (kinds.is_integer,), (kinds.is_boolean,)
_TIME, _SECONDS = (kinds.is_timestamp, _text), (_number, _text)
_TYPES: dict[str, tuple[Callable[[pa.DataType], bool], ...]] = {
    "kind": _TEXT,
    "payload": _TEXT,
    "queue": _TEXT,
    "key": (_text, kinds.is_integer),
    "run_at": _TIME,
    "delay": _SECONDS,
    "priority": _INTEGER,
    "max_attempts": _INTEGER,
    "retry": _TEXT,
    "timeout": _SECONDS,
    "headers": _TEXT,
    "personal": _BOOLEAN,
    "tenant": _TEXT,
}
_WORDS: dict[Callable[[pa.DataType], bool], str] = {
    _text: "string",
    _number: "number",
    kinds.is_integer: "integer",
    kinds.is_boolean: "boolean",
    kinds.is_timestamp: "timestamp",
}
_READ: dict[str, Callable[[str, pa.Array, ZoneInfo | None, Faults], pa.Array]] = {
    "kind": _as_text,
    "payload": _as_json,
    "queue": _as_text,
    "key": _as_text,
    "run_at": _as_moment,
    "delay": _as_seconds,
    "priority": _as_integer,
    "max_attempts": _as_integer,
    "retry": _as_retry,
    "timeout": _as_seconds,
    "headers": _as_headers,
    "personal": _as_boolean,
    "tenant": _as_text,
}
