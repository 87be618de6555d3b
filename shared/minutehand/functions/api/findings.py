"""The doctor's findings about the API's database, stored for a minute, so that a page that is open costs it little."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock
from time import monotonic

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
        """Whether the database need not be examined again."""
        return monotonic() - self.taken < MAX_AGE.total_seconds()


class Examiner:
    """Examines the one database of this process, at most once a minute, and in one request at a time."""

    def __init__(self) -> None:
        """Begin without an examination."""
        self._running = Lock()
        self._latest: Examination | None = None

    def examine(
        self, database: Database, capacity: int, now: datetime, *, stacked: bool
    ) -> Examination | None:
        """Return the latest examination, made now if it is older than a minute; None while the first one runs.

        A request never waits for the examination of another one, which may wait for a locked table: each waiting
        request would keep a connection. The check of poolers is skipped, because it needs a second session.
        """
        if not self._running.acquire(blocking=False):
            return self._latest
        try:
            if self._latest is None or not self._latest.is_recent:
                examined = ExaminedDatabase(database, None, capacity, stacked=stacked)
                self._latest = Examination(examine_database(examined), now, monotonic())
            return self._latest
        finally:
            self._running.release()


examiner = Examiner()
