"""Options that name a time, or how long ago it was: `--since 7d`."""

from datetime import datetime, timedelta

import click

from minutehand.cli.values import option_time, read_duration
from minutehand.database import Database
from minutehand.model.calendar import END
from minutehand.queries.jobs import clock


def optional_time(database: Database, text: str | None, tz: str | None, hint: str) -> datetime | None:
    """Return the time of an option, or None if it was not given."""
    return None if text is None else time_of(database, text, tz, hint)


def time_of(database: Database, text: str, tz: str | None, hint: str) -> datetime:
    """Return the time that an option names, or that was that long ago by the database's clock."""
    try:
        age = read_duration(text)
    except ValueError:
        _check_form(text, hint)
        return option_time(text, tz, hint)
    return _ago(clock(database), age, hint)


def later(database: Database, delay: timedelta, hint: str) -> datetime:
    """Return the time after a delay from now, by the database's clock."""
    try:
        moment = clock(database) + delay
    except OverflowError:
        raise too_late(hint) from None
    if moment >= END:
        raise too_late(hint)
    return moment


def too_late(hint: str) -> click.BadParameter:
    """Return the usage error of a delay that leaves the calendar."""
    return click.BadParameter("the time must not be after the year 9999", param_hint=hint)


def _check_form(text: str, hint: str) -> None:
    try:
        datetime.fromisoformat(text.strip())
    except ValueError:
        raise click.BadParameter(
            f"{text!r} is neither a time nor how long ago; write 7d, 2h30m, or ISO 8601, "
            "such as 2030-03-01T08:00:00+01:00",
            param_hint=hint,
        ) from None


def _ago(now: datetime, age: timedelta, hint: str) -> datetime:
    try:
        return now - age
    except OverflowError:
        raise click.BadParameter("the time must not be before the year 1", param_hint=hint) from None
