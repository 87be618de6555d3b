"""Stored jobs: their keys and errors, which logs do not have, because they may quote a payload or name a person."""

from threading import Lock
from uuid import UUID

from minutehand.database import Database
from minutehand.errors import MinutehandError
from minutehand.model.row import Row
from minutehand.queries.jobs import get


class StoredJobs:
    """The jobs of a database, for several threads."""

    def __init__(self, url: str) -> None:
        """Connect when the first job is read."""
        self._database, self._lock = Database(url), Lock()

    def find(self, job: str) -> Row | None:
        """Return a job by its id; None if it does not exist, or cannot be read."""
        try:
            with self._lock:
                return get(self._database, UUID(job))
        # A handler may log a field with the same name.
        except (MinutehandError, ValueError, TypeError, AttributeError):
            return None
