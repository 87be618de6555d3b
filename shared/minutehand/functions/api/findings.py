"""The doctor's findings about the API's database, stored for a minute, so that a page that is open costs it little."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock
from time import monotonic
from weakref import WeakKeyDictionary

from minutehand.database import Database
from minutehand.doctor import ExaminedDatabase, Finding, examine_database

MAX_AGE = timedelta(minutes=1)


@dataclass(frozen=True)
class Examination:
    """The findings, the time of the database's clock when it was examined, and this machine's monotonic time then."""

    findings: list[Finding]
    at: datetime
    taken: float

    @property
    def is_recent(self) -> bool:
        """Whether the findings are still shown."""
        return monotonic() - self.taken < MAX_AGE.total_seconds()


_latest: "WeakKeyDictionary[Database, Examination]" = WeakKeyDictionary()
_lock = Lock()


def examine(database: Database, capacity: int, now: datetime, *, stacked: bool) -> Examination:
    """Examine a database, unless that was done within the last minute; one request at a time does so.

    The check of poolers is skipped, because it needs a second session.
    """
    with _lock:
        found = _latest.get(database)
        if found is None or not found.is_recent:
            examined = ExaminedDatabase(database, None, capacity, stacked=stacked)
            found = _latest[database] = Examination(examine_database(examined), now, monotonic())
        return found
