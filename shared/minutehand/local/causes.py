"""Causes: why the attempts of jobs failed. Logs do not have it, because a message may quote a payload."""

from threading import Lock
from uuid import UUID

from minutehand.cli.text import error_line
from minutehand.database import Database
from minutehand.errors import MinutehandError
from minutehand.queries.jobs import get


class Causes:
    """The stored errors of the jobs of a database, for several threads."""

    def __init__(self, url: str) -> None:
        """Connect when the first error is read."""
        self._database, self._lock = Database(url), Lock()

    def find(self, job: str) -> str | None:
        """Return the error of a job in one line; None if it has none, or cannot be read."""
        try:
            with self._lock:
                row = get(self._database, UUID(job))
        except MinutehandError:
            return None
        return error_line(row.error) if row.error else None
