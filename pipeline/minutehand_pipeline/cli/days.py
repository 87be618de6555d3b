"""UTC days as options."""

from datetime import date, datetime
from typing import Any

import click


class Day(click.DateTime):
    """A day such as 2026-03-31. A day that does not exist has the right format, so the format is not the message."""

    def __init__(self) -> None:
        """Accept ISO 8601 only."""
        super().__init__(["%Y-%m-%d"])

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the start of the day."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            self.fail(f"expected an existing day such as 2026-03-31, got {value!r}", param, ctx)


DAY = Day()


def to_date(value: datetime | None) -> date | None:
    """Return the date of an option that was given."""
    return None if value is None else value.date()
