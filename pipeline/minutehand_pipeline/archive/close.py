"""Close: which days are over, and whether anything can still commit rows of them, whatever the clock says."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from time import monotonic, sleep

from minutehand.database import Database
from minutehand_pipeline.schemas import Home
from minutehand_pipeline.statements import run

POLL = 0.5  # seconds


@dataclass(frozen=True)
class Day:
    """A UTC day of a home that is over, by the database's clock.

    `rows` and `identity` are what the archive said of it last, None where it said nothing; `partitioned` is whether it
    has a partition of its own.
    """

    home: Home
    day: date
    ends: datetime
    partitioned: bool
    rows: int | None
    identity: int | None


def days_over(database: Database, home: Home, since: date | None, until: date | None) -> list[Day]:
    """Return the days that are over and may have rows, the oldest first."""
    found = run(database, "archive_days", home=home.name, since=since, until=until)
    return [
        Day(
            home, row["day"], row["ends"], row["partitioned"], row["rows"],
            None if row["identity"] is None else int(row["identity"]),
        )
        for row in found
    ]  # fmt: skip


class Closing:
    """Says of days that were over when it was made whether anything can still commit rows of them.

    A job's end is a moment of its transaction, which may commit long after. So a day is closed when every transaction
    that began before its end has ended. Where the role may not see when others began (pg_read_all_stats lets it), it is
    closed when all have ended that were there when this was made, which was after.
    """

    def __init__(self, database: Database, wait: timedelta) -> None:
        """Note which transactions there are; all days together are waited for so long at most."""
        self._database = database
        self._mark = run(database, "archive_mark")[0]["mark"]
        self._until = monotonic() + wait.total_seconds()

    def holder(self, ends: datetime) -> str | None:
        """Return who may still commit rows of a day that ended then, once nobody does or the wait is over."""
        while (holder := self._look(ends)) is not None and monotonic() < self._until:
            sleep(POLL)
        return holder

    def _look(self, ends: datetime) -> str | None:
        found: str | None = run(self._database, "archive_holder", ends=ends, mark=self._mark)[0]["holder"]
        return found
