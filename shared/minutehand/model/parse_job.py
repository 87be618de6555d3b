"""Parse a job from a line of a file: a JSON object, or CSV cells and their header."""

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, cast
from uuid import UUID
from zoneinfo import ZoneInfo

from minutehand.model.new_job import OPTIONS, NewJob
from minutehand.model.parsing import parse_json, read_duration, read_time
from minutehand.model.retry import Retry

FIELDS = tuple(OPTIONS)
RETRY_FIELDS = tuple(field.name for field in dataclasses.fields(Retry))


def new_job(fields: Any, zone: ZoneInfo | None) -> NewJob:
    """Return the job of a line; raise ValueError for fields that are unknown or invalid."""
    if not isinstance(fields, Mapping):
        raise ValueError('a line must be a JSON object, such as {"kind": "welcome", "payload": {}}')
    _check_names(fields, FIELDS, "field")
    if fields.get("kind") is None:
        raise ValueError("kind is missing")
    options = {
        name: _read(name, value, zone) if name in _READERS and value is not None else value
        for name, value in fields.items()
    }
    return NewJob(**options)


def _read(name: str, value: Any, zone: ZoneInfo | None) -> Any:
    try:
        return _READERS[name](value, zone)
    except ValueError as error:
        fault = str(error)
        raise ValueError(fault if fault.startswith(name) else f"{name}: {fault}") from None


def read_cells(header: list[str], cells: list[str]) -> dict[str, Any]:
    """Return the fields of a row of cells. Empty cells are left out; payload, headers and retry are JSON."""
    if len(cells) != len(header):
        raise ValueError(f"expected {len(header)} cells as in the header, got {len(cells)}")
    fields: dict[str, Any] = {name: cell for name, cell in zip(header, cells, strict=True) if cell != ""}
    return {name: _CELLS[name](name, cell) if name in _CELLS else cell for name, cell in fields.items()}


def _cell_json(name: str, cell: str) -> Any:
    try:
        return parse_json(cell)
    except ValueError as error:
        raise ValueError(f"{name}: {json_fault(error)}") from None


def _integer(name: str, cell: str) -> int:
    if not (cell.isascii() and cell.isdigit() and len(cell) < 10):
        raise ValueError(f"{name} must be an integer")
    return int(cell)


def _boolean(name: str, cell: str) -> bool:
    if cell not in ("true", "false"):
        raise ValueError(f"{name} must be true or false")
    return cell == "true"


def _check_names(fields: Mapping[str, Any], known: Iterable[str], what: str) -> None:
    if unknown := sorted(set(fields) - set(known)):
        raise ValueError(f"unknown {what} {unknown[0][:80]!r}; expected {', '.join(known)}")


def _moment(value: Any, zone: ZoneInfo | None) -> datetime:
    if not isinstance(value, str):
        raise ValueError("run_at must be an ISO 8601 time")
    return read_time(value, zone)


def _duration(value: Any, _zone: ZoneInfo | None = None) -> timedelta:
    if isinstance(value, str):
        return read_duration(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return _seconds(value)
    raise ValueError("a duration must be a number of seconds or a text such as 10m")


def _seconds(value: float) -> timedelta:
    try:
        return timedelta(seconds=value)
    except OverflowError:
        raise ValueError("the duration is too long") from None


def _retry(value: Any, _zone: ZoneInfo | None) -> Retry:
    if not isinstance(value, Mapping):
        raise ValueError(f"retry must be an object with {', '.join(RETRY_FIELDS)}")
    _check_names(value, RETRY_FIELDS, "field of retry")
    fields: dict[str, Any] = {
        name: _duration(inner) if name in ("min", "max") else inner for name, inner in value.items()
    }
    return Retry(**fields)


def _id(value: Any, _zone: ZoneInfo | None) -> UUID:
    try:
        return UUID(value)
    except (AttributeError, TypeError, ValueError):
        raise ValueError("batch must be the id of a batch, a UUID") from None


def _ids(value: Any, zone: ZoneInfo | None) -> list[UUID]:
    """Read a list of ids, or in CSV a text with commas or spaces between them."""
    parts = value.replace(",", " ").split() if isinstance(value, str) else value
    try:
        return [UUID(part) for part in parts]
    except (AttributeError, TypeError, ValueError):
        raise ValueError(
            f"after must be a list of job ids, which are UUIDs, got {str(value)[:80]!r}"
        ) from None


def _job_or_kind(value: Any, zone: ZoneInfo | None) -> NewJob | str:
    return value if isinstance(value, str) else new_job(value, zone)


def json_fault(error: Exception) -> str:
    """Describe invalid JSON by its column, without quoting it; other errors have their own messages."""
    if isinstance(error, UnicodeDecodeError):
        return "not UTF-8"
    column = getattr(error, "colno", None)
    return str(error) if column is None else f"not JSON: {cast(Any, error).msg} (column {column})"


_Reader = Callable[[Any, ZoneInfo | None], Any]
_READERS_OF_TYPES: dict[str, _Reader] = {
    "timestamptz": _moment,
    "interval": _duration,
    "uuid": _id,
    "uuid[]": _ids,
}
_READERS: dict[str, _Reader] = {
    name: _READERS_OF_TYPES[option.sql] for name, option in OPTIONS.items() if option.sql in _READERS_OF_TYPES
} | {"retry": _retry, "on_dead": _job_or_kind}
_CELLS_OF_TYPES: dict[str, Callable[[str, str], Any]] = {
    "integer": _integer,
    "boolean": _boolean,
    "json": _cell_json,
    "jsonb": _cell_json,
}
_CELLS = {
    name: _CELLS_OF_TYPES[option.sql] for name, option in OPTIONS.items() if option.sql in _CELLS_OF_TYPES
}
