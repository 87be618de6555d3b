"""Parse durations, times with a zone, and JSON."""

import json
from datetime import datetime, timedelta
from typing import Any, NoReturn
from zoneinfo import ZoneInfo

import msgspec


def read_duration(text: str) -> timedelta:
    """Return `90s`, `10m`, `2h30m`, `3d` or an ISO 8601 duration; raise ValueError for anything else."""
    iso = "".join(text.split()).upper()
    if not iso.startswith("P"):
        days, d, time = iso.rpartition("D")
        iso = f"P{days}{d}" + (f"T{time}" if time else "")
    try:
        return msgspec.convert(iso, timedelta)
    except (msgspec.ValidationError, UnicodeError):
        raise ValueError(
            f"{text!r} is not a duration; write 90s, 10m, 2h30m, 3d, or ISO 8601 such as PT10M"
        ) from None


def read_time(text: str, zone: ZoneInfo | None = None) -> datetime:
    """Return an ISO 8601 time with an offset, or in a zone; raise ValueError if it is ambiguous or does not exist."""
    try:
        read = datetime.fromisoformat(text.strip())
    except ValueError:
        raise ValueError(
            f"{text!r} is not a time; write ISO 8601, such as 2030-03-01T08:00:00+01:00"
        ) from None
    if read.utcoffset() is not None:
        return read
    if zone is None:
        raise ValueError(
            f"{text!r} has no offset; add one, such as {_with_offset(text.strip(), read)}, "
            "or give its zone with --tz"
        )
    return _one_time(read.replace(tzinfo=zone), text)


def parse_json(text: str | bytes) -> Any:
    """Return the value of JSON text; raise ValueError, without quoting it, if it is not JSON. NaN is not JSON."""
    try:
        return json.loads(text, parse_constant=_no_constant)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _one_time(read: datetime, text: str) -> datetime:
    if read.utcoffset() == read.replace(fold=1).utcoffset():
        return read
    wall = read.replace(tzinfo=None)
    exists = read.astimezone(ZoneInfo("UTC")).astimezone(read.tzinfo).replace(tzinfo=None) == wall
    fault = "is ambiguous" if exists else "does not exist"
    raise ValueError(f"{text!r} {fault} in {read.tzinfo} because of a clock change; write it with its offset")


def _with_offset(text: str, read: datetime) -> str:
    """Return a text with an offset; a date needs a time for that."""
    try:
        datetime.fromisoformat(f"{text}Z")
    except ValueError:
        return f"{read.isoformat(timespec='minutes')}Z"
    return f"{text}Z"


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
