"""What people type, as values: durations, moments with their zone, ids and JSON."""

import json
from datetime import datetime, timedelta
from enum import Enum
from typing import Any, NoReturn, cast
from uuid import UUID
from zoneinfo import ZoneInfo

import click
import msgspec


class Stdin(Enum):
    """What `-` stands for among ids."""

    STDIN = "-"


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
            f"{text!r} is no duration; write 90s, 10m, 2h30m, 3d, or ISO 8601 as PT10M"
        ) from None


def read_moment(text: str, zone: ZoneInfo | None = None) -> datetime:
    """Return an ISO 8601 moment with its offset, or in a zone; raise ValueError where that is not one moment."""
    try:
        read = datetime.fromisoformat(text.strip())
    except ValueError:
        raise ValueError(f"{text!r} is no moment; write ISO 8601, as 2026-03-01T08:00:00+01:00") from None
    if read.utcoffset() is not None:
        return read
    if zone is None:
        raise ValueError(f"{text!r} has no offset; add one, as {text.strip()}Z, or say its zone with --tz")
    return _one_moment(read.replace(tzinfo=zone), text)


def zone(name: str | None) -> ZoneInfo | None:
    """Return a time zone by its name; raise a usage error if there is none."""
    if name is None:
        return None
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise click.BadParameter(
            f"no time zone is called {name!r}; write one as Europe/Berlin", param_hint="--tz"
        ) from None


def option_moment(text: str, tz: str | None, hint: str) -> datetime:
    """Return the moment that an option names; raise a usage error for what is none."""
    try:
        return read_moment(text, zone(tz))
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint=hint) from None


def parse_json(text: str | bytes) -> Any:
    """Return JSON's value; raise ValueError for what is not JSON, NaN included, without quoting it."""
    try:
        return json.loads(text, parse_constant=_no_constant)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _one_moment(read: datetime, text: str) -> datetime:
    if read.utcoffset() == read.replace(fold=1).utcoffset():
        return read
    there = read.astimezone(ZoneInfo("UTC")).astimezone(read.tzinfo).replace(tzinfo=None) == read.replace(
        tzinfo=None
    )
    says = "comes twice" if there else "does not exist"
    raise ValueError(f"{text!r} {says} in {read.tzinfo}, where the clocks change; write it with its offset")


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def duration(value: str | timedelta) -> timedelta:
    """Return an option's duration, which is not negative."""
    try:
        read = value if isinstance(value, timedelta) else read_duration(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None
    if read < timedelta():
        raise click.BadParameter(f"{value!r} is negative")
    return read


def job_id(value: str | UUID) -> UUID:
    """Return the id that an argument is."""
    try:
        return value if isinstance(value, UUID) else UUID(value)
    except ValueError:
        raise click.BadParameter(f"{value!r} is no job's id, which is a UUID") from None


def job_id_or_stdin(value: str | UUID | Stdin) -> UUID | Stdin:
    """Return the id that an argument is, or for `-` where more of them are."""
    return Stdin.STDIN if value in ("-", Stdin.STDIN) else job_id(cast(str, value))
