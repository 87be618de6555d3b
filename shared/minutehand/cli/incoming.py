"""Lines of a file become new jobs; one that cannot be a job becomes a fault with its number, and the rest go on."""

import csv
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from io import TextIOWrapper
from typing import Any, BinaryIO, cast
from zoneinfo import ZoneInfo

import click

from minutehand.cli.values import parse_json, read_duration, read_moment
from minutehand.enqueue import NewJob
from minutehand.retry import Retry

FIELDS = tuple(field.name for field in fields(NewJob))
RETRY_FIELDS = tuple(field.name for field in fields(Retry))
CELL_BYTES = 128 * 1024 * 1024  # csv's own limit is half of what a payload may have


@dataclass(frozen=True)
class Item:
    """A line's job, or why it is none."""

    line: int
    job: NewJob | None = None
    fault: str = ""


def read_ndjson(file: BinaryIO, zone: ZoneInfo | None) -> Generator[Item, None, None]:
    """Read a JSON object a line, with the fields of a NewJob; blank lines count and are passed over."""
    for number, line in enumerate(file, 1):
        if line.strip():
            try:
                asked = parse_json(line.decode("utf-8-sig" if number == 1 else "utf-8"))
                yield Item(number, new_job(asked, zone))
            except ValueError as error:
                yield Item(number, fault=_json_fault(error))


def read_csv(file: BinaryIO, zone: ZoneInfo | None) -> Generator[Item, None, None]:
    """Read cells under a header of NewJob's fields; payload, headers and retry are JSON, an empty cell says nothing."""
    csv.field_size_limit(CELL_BYTES)
    text = TextIOWrapper(file, "utf-8-sig", errors="surrogateescape", newline="")
    try:
        yield from _csv_items(csv.reader(text, strict=True), zone)
    finally:
        text.detach()


def _csv_items(rows: Any, zone: ZoneInfo | None) -> Iterator[Item]:
    header = _header(rows)
    while True:
        number = rows.line_num + 1
        try:
            cells = next(rows)
            if cells:
                yield Item(number, new_job(_cells(header, cells), zone))
        except StopIteration:
            return
        except (csv.Error, ValueError) as error:
            yield Item(number, fault=str(error))


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


def _header(rows: Iterator[list[str]]) -> list[str]:
    try:
        header = next(rows, [])
    except csv.Error as error:
        raise click.UsageError(f"the header cannot be read: {error}") from None
    header = [name.strip() for name in header]
    if "kind" not in header or set(header) - set(FIELDS) or len(set(header)) < len(header):
        raise click.UsageError(
            f"the header names the columns, each once: kind, and any of {', '.join(FIELDS[1:])}"
        )
    return header


def _cells(header: list[str], cells: list[str]) -> dict[str, Any]:
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
        raise ValueError(f"{name}: {_json_fault(error)}") from None


def _whole(name: str, cell: str) -> int:
    if not (cell.isascii() and cell.isdigit() and len(cell) < 10):
        raise ValueError(f"{name} is a whole number")
    return int(cell)


def _truth(name: str, cell: str) -> bool:
    if cell not in ("true", "false"):
        raise ValueError(f"{name} is true or false")
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


def _json_fault(error: Exception) -> str:
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
