"""Fetch rows, including times and durations that Python cannot represent, such as `infinity`."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
from psycopg.adapt import Loader
from psycopg.pq import Format

Record = dict[str, Any]
AnyCursor = psycopg.Cursor[Record] | psycopg.AsyncCursor[Record]

# The values that replace what is beyond Python's range: the earliest and the latest one.
_ENDS: dict[int, tuple[object, object]] = {
    psycopg.postgres.types["timestamptz"].oid: (
        datetime.min.replace(tzinfo=UTC),
        datetime.max.replace(tzinfo=UTC),
    ),
    psycopg.postgres.types["interval"].oid: (timedelta.min, timedelta.max),
}


def fetch(cursor: psycopg.Cursor[Record]) -> list[Record]:
    """Return all rows. One value out of range must not fail a list, so it becomes the nearest one that Python has."""
    try:
        return cursor.fetchall() if _has_rows(cursor) else []
    except (psycopg.DataError, OverflowError):
        return fetch_nearest(cursor)


async def fetch_async(cursor: psycopg.AsyncCursor[Record]) -> list[Record]:
    """Do what `fetch` does, on an async cursor."""
    try:
        return await cursor.fetchall() if _has_rows(cursor) else []
    except (psycopg.DataError, OverflowError):
        return fetch_nearest(cursor)


def _has_rows(cursor: AnyCursor) -> bool:
    """Return whether the statement returns rows. `description` would describe each column, at every statement."""
    return cursor.pgresult is not None and cursor.pgresult.nfields > 0


def fetch_nearest(cursor: AnyCursor) -> list[Record]:
    """Return all rows, with the nearest value that Python has in place of those out of range."""
    result, columns = cursor.pgresult, cursor.description
    assert result is not None and columns is not None
    names = [column.name for column in columns]
    load = [
        _nearest(cursor, column.type_code, Format(result.fformat(place)))
        for place, column in enumerate(columns)
    ]
    return [
        {name: load[place](result.get_value(row, place)) for place, name in enumerate(names)}
        for row in range(result.ntuples)
    ]


def _nearest(cursor: AnyCursor, oid: int, form: Format) -> Callable[[bytes | None], Any]:
    loader = cursor.adapters.get_loader(oid, form) or cursor.adapters.get_loader(0, form)
    assert loader is not None
    loading: Loader = loader(oid, cursor)  # type: ignore[assignment]

    def load(data: bytes | None) -> Any:
        if data is None:
            return None
        try:
            return loading.load(data)
        except (psycopg.DataError, OverflowError):
            if oid not in _ENDS:
                raise
            return _ENDS[oid][0 if b"-" in data[:1] or data.endswith(b"BC") else 1]

    return load
