"""Find the days that are over, and check whether an open transaction can still commit rows to them."""

import logging
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from time import monotonic, sleep

from minutehand.database import Database
from minutehand_pipeline.schemas import Home
from minutehand_pipeline.statements import run_statement

LOG = logging.getLogger("minutehand_pipeline")

POLL = 0.5  # seconds


@dataclass(frozen=True)
class Day:
    """A UTC day of a home that is over by the database's clock.

    `rows` and `identity` are what the archive last recorded of the day, or None. `partitioned` is whether the day has
    a partition; its rows are in the default partition otherwise.
    """

    home: Home
    day: date
    ends: datetime
    partitioned: bool
    rows: int | None
    identity: int | None


def list_days(database: Database, home: Home, since: date | None, until: date | None) -> list[Day]:
    """Return the days that are over and may have rows, oldest first. Rows before the year 1 are on no day."""
    found = run_statement(database, "archive_days", home=home.name, since=since, until=until)
    if any(row["day"] is None for row in found):
        LOG.warning(
            "%s has rows whose column %s is before the year 1; they are not archived and remain in the database",
            home.name,
            home.dated,
        )
    return [
        Day(
            home,
            row["day"],
            row["ends"],
            row["partitioned"],
            row["rows"],
            None if row["identity"] is None else int(row["identity"]),
        )
        for row in found
        if row["day"] is not None
    ]


class Closing:
    """Checks whether a day can still receive rows.

    A job ends at a time inside its transaction, which may commit long after midnight. A day is closed when every
    transaction that began before its end has ended. A role without pg_read_all_stats cannot see when other
    transactions began; for it, a day is closed when all transactions have ended that were open when this object was
    created.
    """

    def __init__(self, database: Database, wait: timedelta) -> None:
        """Mark the open transactions. `wait` is the total waiting time for all days."""
        self._database = database
        self._mark = run_statement(database, "archive_mark")[0]["mark"]
        self._deadline = monotonic() + wait.total_seconds()

    def wait_for_holder(self, ends: datetime) -> str | None:
        """Wait until no transaction can commit rows of a day that ended then; return one that still can."""
        while (holder := self._holder(ends)) is not None and monotonic() < self._deadline:
            sleep(POLL)
        return holder

    def _holder(self, ends: datetime) -> str | None:
        holder: str | None = run_statement(self._database, "archive_holder", ends=ends, mark=self._mark)[0][
            "holder"
        ]
        return holder
