"""Values of arguments and options: durations, times, time zones and ids."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from uuid import UUID
from zoneinfo import ZoneInfo

import click

from minutehand.model.new_job import NewJob
from minutehand.model.parse_job import new_job
from minutehand.model.parsing import parse_json, read_duration, read_time
from minutehand.queries.ids import LEAST_DIGITS, digits_of

__all__ = [
    "ShortId",
    "Stdin",
    "batch_id",
    "duration",
    "full_id",
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


@dataclass(frozen=True)
class ShortId:
    """The first digits of an id of a job or a batch."""

    digits: str


def zone(name: str | None) -> ZoneInfo | None:
    """Return a time zone by its name; raise a usage error if it does not exist."""
    if name is None:
        return None
    # Imported here, because most commands use no zone.
    from minutehand.model.zones import zone_names

    if name in zone_names():
        return ZoneInfo(name)
    raise click.BadParameter(
        f"must be an IANA time zone such as Europe/Berlin, got {name!r}", param_hint="--tz"
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
        fields = parse_json(value)
    except ValueError as error:
        raise click.BadParameter(f"must be JSON or a kind: {error}") from None
    try:
        return new_job(fields, None)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def duration(value: str | timedelta) -> timedelta:
    """Return an option's duration; raise a usage error if it is invalid or negative."""
    try:
        read = value if isinstance(value, timedelta) else read_duration(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None
    if read < timedelta():
        raise click.BadParameter(f"must not be negative, got {value!r}")
    return read


def full_id(value: str | UUID) -> UUID:
    """Return the id of an argument; raise a usage error if it is invalid."""
    try:
        return value if isinstance(value, UUID) else UUID(value)
    except ValueError:
        raise click.BadParameter(f"must be an id (a UUID), got {value!r}") from None


def job_id(value: str | UUID | ShortId) -> UUID | ShortId:
    """Return the job id of an argument, or its first digits; raise a usage error if it is neither."""
    return _id(value, "job")


def batch_id(value: str | UUID | ShortId) -> UUID | ShortId:
    """Return the id of a batch of an argument, or its first digits; raise a usage error if it is neither."""
    return _id(value, "batch")


def _id(value: str | UUID | ShortId, noun: str) -> UUID | ShortId:
    if isinstance(value, (UUID, ShortId)):
        return value
    try:
        return UUID(value)
    except ValueError:
        if digits := digits_of(value):
            return ShortId(digits)
        raise click.BadParameter(
            f"must be a {noun} id (a UUID, or at least its first {LEAST_DIGITS} digits), got {value!r}"
        ) from None


def job_id_or_stdin(value: str | UUID | ShortId | Stdin) -> UUID | ShortId | Stdin:
    """Return the job id of an argument, or Stdin for `-`."""
    return value if isinstance(value, Stdin) else Stdin.STDIN if value == "-" else job_id(value)


def named_headers(arguments: tuple[str, ...]) -> dict[str, str] | None:
    """Return headers from `NAME=VALUE` options, or None; raise a usage error for another form or a second value."""
    headers: dict[str, str] = {}
    for argument in arguments:
        name, equals, value = argument.partition("=")
        if not equals or not name:
            raise click.BadParameter(f"must be NAME=VALUE, got {argument!r}", param_hint="--header")
        if name in headers:
            raise click.BadParameter(f"{name!r} must be given once, got it twice", param_hint="--header")
        headers[name] = value
    return headers or None
