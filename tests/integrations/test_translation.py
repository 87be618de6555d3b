"""Statements and values in the form of drivers that differ from psycopg."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from minutehand.integrations.placeholders import numbered
from minutehand.integrations.texts import array_text, copy_rows

DAY = timedelta(days=1)


@pytest.mark.parametrize(
    ("statement", "parameters", "expected"),
    [
        ("select %(a)s, %(b)s, %(a)s", {"b": 2, "a": 1}, ("select $1, $2, $1", [1, 2])),
        ("select %(a)s::text like '%%'", {"a": "x", "unused": 1}, ("select $1::text like '%'", ["x"])),
        (
            "select %(a)s::json, %(b)s::jsonb",
            {"a": "{}", "b": None},
            ("select $1::text::json, $2::text::jsonb", ["{}", None]),
        ),
        ("select %(a)s::jsonb[]", {"a": []}, ("select $1::jsonb[]", [[]])),
        ("select %(a)s", {"a": DAY}, ("select $1::text::interval", ["86400 seconds 0 microseconds"])),
        (
            "select %(a)s",
            {"a": [DAY, None]},
            ("select $1::text[]::interval[]", [["86400 seconds 0 microseconds", None]]),
        ),
    ],
    ids=["order", "percent", "json", "json array", "interval", "intervals"],
)
def test_placeholders_are_numbered(statement: str, parameters: dict[str, object], expected: object) -> None:
    assert numbered(statement, parameters) == expected


def test_arrays_are_quoted() -> None:
    values = ['a"b', "c\\d", None, "e,{f}", UUID(int=1), DAY]

    assert array_text(values) == (
        '{"a\\"b","c\\\\d",NULL,"e,{f}","00000000-0000-0000-0000-000000000001","86400 seconds 0 microseconds"}'
    )


def test_rows_of_copy_are_escaped() -> None:
    row = (1, None, True, "tab\tline\nreturn\rslash\\", datetime(2030, 1, 2, tzinfo=UTC), DAY)

    assert list(copy_rows([row])) == [
        b"1\t\\N\ttrue\ttab\\tline\\nreturn\\rslash\\\\\t2030-01-02T00:00:00+00:00\t86400 seconds 0 microseconds\n"
    ]
