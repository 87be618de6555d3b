"""Windows of time as people say them: `--since 7d`, or from a moment to another."""

from datetime import datetime, timedelta

import click

from minutehand.cli.values import option_moment, read_duration
from minutehand.database import Database
from minutehand.queries.jobs import clock


def moment_of(database: Database, said: str | None, tz: str | None, hint: str) -> datetime | None:
    """Return the moment that an option names, or how long ago it was by the database's clock."""
    if said is None:
        return None
    try:
        age = read_duration(said)
    except ValueError:
        return option_moment(said, tz, hint)
    return _ago(clock(database), age, hint)


def _ago(now: datetime, age: timedelta, hint: str) -> datetime:
    try:
        return now - age
    except OverflowError:
        raise click.BadParameter("that is before the year 1", param_hint=hint) from None
