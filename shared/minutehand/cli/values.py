"""Values of arguments and options: durations, times, time zones and ids."""

from datetime import datetime, timedelta
from enum import Enum
from typing import cast
from uuid import UUID
from zoneinfo import ZoneInfo

import click

from minutehand.model.new_job import NewJob
from minutehand.model.parse_job import new_job
from minutehand.model.parsing import parse_json, read_duration, read_time

__all__ = [
    "Stdin",
    "duration",
    "job_id",
    "job_id_or_stdin",
    "job_or_kind",
    "named_headers",
    "option_time",
    "parse_json",
    "read_duration",
    "read_time",
    "zone",
]


class Stdin(Enum):
    """The value of `-` among ids."""

    STDIN = "-"


def zone(name: str | None) -> ZoneInfo | None:
    """Return a time zone by its name; raise a usage error if it does not exist."""
    if name is None:
        return None
    # Imported here, because most commands use no zone.
    from minutehand.model.zones import zone_names

    if name in zone_names():
        return ZoneInfo(name)
    raise click.BadParameter(
        f"{name!r} is not a known time zone; write it as Europe/Berlin", param_hint="--tz"
    )


def option_time(text: str, tz: str | None, hint: str) -> datetime:
    """Return the time that an option names; raise a usage error if it is invalid."""
    try:
        return read_time(text, zone(tz))
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint=hint) from None


def job_or_kind(value: "str | NewJob") -> "NewJob | str":
    """Return a job that is given as a JSON object, or a kind."""
    if isinstance(value, NewJob) or not value.lstrip().startswith("{"):
        return value
    try:
        return new_job(parse_json(value), None)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def duration(value: str | timedelta) -> timedelta:
    """Return an option's duration; raise a usage error if it is invalid or negative."""
    try:
        read = value if isinstance(value, timedelta) else read_duration(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None
    if read < timedelta():
        raise click.BadParameter(f"{value!r} must not be negative")
    return read


def job_id(value: str | UUID) -> UUID:
    """Return the job id of an argument; raise a usage error if it is invalid."""
    try:
        return value if isinstance(value, UUID) else UUID(value)
    except ValueError:
        raise click.BadParameter(f"{value!r} is not a valid job id (UUID)") from None


def job_id_or_stdin(value: str | UUID | Stdin) -> UUID | Stdin:
    """Return the job id of an argument, or Stdin for `-`."""
    return Stdin.STDIN if value in ("-", Stdin.STDIN) else job_id(cast(str, value))


def named_headers(arguments: tuple[str, ...]) -> dict[str, str] | None:
    """Return headers from `NAME=VALUE` options, or None; raise a usage error for another form or a second value."""
    headers: dict[str, str] = {}
    for argument in arguments:
        name, equals, value = argument.partition("=")
        if not equals or not name or name in headers:
            raise click.BadParameter(
                f"expected NAME=VALUE with a new name, got {argument!r}", param_hint="--header"
            )
        headers[name] = value
    return headers or None
