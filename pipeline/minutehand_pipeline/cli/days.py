"""UTC days as options."""

from datetime import date, datetime

import click

DAY = click.DateTime(["%Y-%m-%d"])


def to_date(value: datetime | None) -> date | None:
    """Return the date of an option that was given."""
    return None if value is None else value.date()
