"""An unreadable Parquet value rejects its row only. These tests run without Spark."""

from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest

from minutehand_pipeline.load.parquet import job_columns

BROKEN = pa.Array.from_buffers(
    pa.string(), 3, [None, pa.py_buffer(b"\0\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0"), pa.py_buffer(b"1\xff3")]
)
BERLIN = ZoneInfo("Europe/Berlin")


def read(zone: ZoneInfo | None = None, **column: pa.Array) -> tuple[list[Any], list[Any]]:
    columns, faults = job_columns(pa.record_batch(column), zone)
    [values] = columns.values()
    return values.to_pylist(), faults.to_pylist()


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())])
@pytest.mark.parametrize("name", ["payload", "key", "kind", "queue", "tenant"])
def test_text_column_rejects_rows_that_are_not_utf_8(name: str, kind: pa.DataType) -> None:
    column = BROKEN.dictionary_encode() if pa.types.is_dictionary(kind) else BROKEN.cast(kind)

    assert read(**{name: column}) == (["1", None, "3"], [None, "not UTF-8", None])


@pytest.mark.parametrize("name", ["headers", "retry", "run_at", "delay", "timeout"])
def test_parsed_column_rejects_rows_that_are_not_utf_8(name: str) -> None:
    assert read(**{name: BROKEN})[1][1] == "not UTF-8"


@pytest.mark.parametrize("name", ["delay", "timeout"])
def test_large_integer_seconds_are_read(name: str) -> None:
    assert read(**{name: pa.array([2**60 + 1, None, 5])}) == ([float(2**60), None, 5.0], [None] * 3)


@pytest.mark.parametrize("zone", [None, "UTC"])
@pytest.mark.parametrize(
    ("unit", "far"), [("s", 36893488147420), ("s", -(2**63)), ("ms", 2**62), ("us", 2**62), ("us", -(2**62))]
)
def test_time_out_of_range_rejects_its_row(zone: str | None, unit: str, far: int) -> None:
    values, faults = read(BERLIN, run_at=pa.array([far, 0, None], pa.timestamp(unit, zone)))

    assert values[0] is None and values[1].year in (1969, 1970)
    assert faults == ["run_at must be a time in the years 1 to 9999", None, None]


def test_nanoseconds_are_truncated_to_microseconds() -> None:
    values, faults = read(run_at=pa.array([1_999, 2**63 - 1], pa.timestamp("ns", "UTC")))

    assert [each.microsecond for each in values] == [1, 854775] and faults == [None, None]
