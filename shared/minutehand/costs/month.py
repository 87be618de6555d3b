"""Month: a calendar month in UTC, by which AWS bills."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime

from minutehand.errors import ConfigurationError

TEXT = re.compile(r"(\d{4})-(0[1-9]|1[0-2])")


@dataclass(frozen=True)
class Month:
    """A month; `since` and `until` are its limits."""

    since: datetime
    until: datetime

    def __str__(self) -> str:
        """Return the month as 2026-11."""
        return f"{self.since:%Y-%m}"

    @property
    def minutes(self) -> float:
        """The length in minutes."""
        return (self.until - self.since).total_seconds() / 60


def month_of(moment: datetime) -> Month:
    """Return the month of a time."""
    moment = moment.astimezone(UTC)
    return _month(moment.year, moment.month)


def parse_month(text: str) -> Month:
    """Return the month in a text such as 2026-11; raise ConfigurationError for another text."""
    found = TEXT.fullmatch(text)
    if found is None or not 1 <= int(found[1]) < 9999:
        raise ConfigurationError(f"the month must be a year and a month, such as 2026-11, got {text!r}")
    return _month(int(found[1]), int(found[2]))


def _month(year: int, month: int) -> Month:
    following = (year + 1, 1) if month == 12 else (year, month + 1)
    return Month(datetime(year, month, 1, tzinfo=UTC), datetime(*following, 1, tzinfo=UTC))
