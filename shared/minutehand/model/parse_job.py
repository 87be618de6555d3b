"""A line of a file as a job: what an object of JSON says, or cells under their header."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from datetime import datetime, timedelta
from typing import Any, cast
from zoneinfo import ZoneInfo

from minutehand.model.new_job import NewJob
from minutehand.model.parsing import parse_json, read_duration, read_moment
from minutehand.model.retry import Retry

FIELDS = tuple(field.name for field in fields(NewJob))
RETRY_FIELDS = tuple(field.name for field in fields(Retry))


def new_job(asked: Any, zone: ZoneInfo | None) -> NewJob:
    """Return what a line asks for; raise ValueError for fields that do not exist or cannot be read."""
    if not isinstance(asked, Mapping):
        raise ValueError('a line is a JSON object, as {"kind": "welcome", "payload": {}}')
    _check_names(asked, FIELDS, "field")
    if asked.get("kind") is None:
        raise ValueError("kind is missing")
    read = {
        name: _READERS[name](value, zone) if name in _READERS and value is not None else value
        for name, value in asked.items()
    }
    return NewJob(**read)


def read_cells(header: list[str], cells: list[str]) -> dict[str, Any]:
    """Return the fields that cells say; an empty one says nothing, payload, headers and retry are JSON."""
    if len(cells) != len(header):
        raise ValueError(f"{len(cells)} cells, and the header has {len(header)}")
    said = {name: cell for name, cell in zip(header, cells, strict=True) if cell != ""}
    for name in ("payload", "headers", "retry"):
        if name in said:
            said[name] = _cell_json(name, said[name])
    return {name: _CELLS[name](name, cell) if name in _CELLS else cell for name, cell in said.items()}


def _cell_json(name: str, cell: str) -> Any:
    try:
        return parse_json(cell)
    except ValueError as error:
        raise ValueError(f"{name}: {json_fault(error)}") from None


def _whole(name: str, cell: str) -> int:
    if not (cell.isascii() and cell.isdigit() and len(cell) < 10):
        raise ValueError(f"{name} must be an integer")
    return int(cell)


def _truth(name: str, cell: str) -> bool:
    if cell not in ("true", "false"):
        raise ValueError(f"{name} must be true or false")
    return cell == "true"


def _check_names(asked: Mapping[str, Any], known: Iterable[str], what: str) -> None:
    if unknown := sorted(set(asked) - set(known)):
        raise ValueError(f"no {what} is called {unknown[0][:80]!r}; they are {', '.join(known)}")


def _moment(value: Any, zone: ZoneInfo | None) -> datetime:
    if not isinstance(value, str):
        raise ValueError("run_at is an ISO 8601 moment")
    return read_moment(value, zone)


def _duration(value: Any, _zone: ZoneInfo | None = None) -> timedelta:
    if isinstance(value, str):
        return read_duration(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return _seconds(value)
    raise ValueError("a duration is a number of seconds or a text as 10m")


def _seconds(value: float) -> timedelta:
    try:
        return timedelta(seconds=value)
    except OverflowError:
        raise ValueError("a duration is longer than any clock goes") from None


def _retry(value: Any, _zone: ZoneInfo | None) -> Retry:
    if not isinstance(value, Mapping):
        raise ValueError(f"retry is an object with {', '.join(RETRY_FIELDS)}")
    _check_names(value, RETRY_FIELDS, "field of retry")
    said: dict[str, Any] = {
        name: _duration(inner) if name in ("min", "max") else inner for name, inner in value.items()
    }
    return Retry(**said)


def json_fault(error: Exception) -> str:
    """Tell of broken JSON by its place; other faults have their own sentences."""
    if isinstance(error, UnicodeDecodeError):
        return "not UTF-8"
    column = getattr(error, "colno", None)
    return str(error) if column is None else f"not JSON: {cast(Any, error).msg} (column {column})"


_Reader = Callable[[Any, ZoneInfo | None], Any]
_DURATIONS = ("delay", "timeout", "unique_for", "debounce", "debounce_max", "throttle")
_READERS: dict[str, _Reader] = {"run_at": _moment, "retry": _retry, **dict.fromkeys(_DURATIONS, _duration)}
_CELLS: dict[str, Callable[[str, str], Any]] = {
    "priority": _whole,
    "max_attempts": _whole,
    "personal": _truth,
}
