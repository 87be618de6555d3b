"""Arrivals: the jobs that are enqueued during a local run."""

from uuid import UUID

from minutehand.database import Database
from minutehand.errors import BusyError, MinutehandError
from minutehand.local.show import Show
from minutehand.model.row import FINISHED, STATES
from minutehand.queries.jobs import list_jobs

UNFINISHED = [state for state in STATES if state not in FINISHED]
AT_ONCE = 200
# A count of so many takes a second.
MOST_COUNTED = 1_000_000
# How long a read waits for a lock. The next one comes soon.
LOCK_MS = 1000


class Arrivals:
    """The jobs of a database that are newer than this object."""

    def __init__(self, database: Database, show: Show) -> None:
        """Remember the newest job."""
        self._database, self._show = database, show
        # Ctrl-C is noticed between two reads.
        database.connection.execute(f"set lock_timeout = {LOCK_MS}")
        self._first = self._last = next((row.id for row in list_jobs(database, limit=1).rows), UUID(int=0))

    def print(self) -> bool:
        """Print the next new jobs; return whether there may be more."""
        try:
            records = self._database.run("list_enqueued", after=self._last, limit=AT_ONCE)
        except BusyError:
            return False
        for record in records:
            self._show.enqueued(record)
            self._last = record["id"]
        return len(records) == AT_ONCE

    def are_finished(self) -> bool:
        """Return whether all jobs of the database are finished."""
        try:
            return not list_jobs(self._database, states=UNFINISHED, limit=1).rows
        except BusyError:
            return False

    def count(self) -> None:
        """Set the number of new jobs in the summary: the lines of a bulk may not have been printed yet."""
        printed = self._show.counts.get("enqueued", 0)
        try:
            rows = self._database.run("count_enqueued", after=self._first, limit=MOST_COUNTED)
        except MinutehandError:
            self._show.set_enqueued(f"at least {printed}")
            return
        # Some may have been deleted since they were printed.
        if (counted := max(printed, rows[0]["enqueued"])) > 0:
            more = counted == MOST_COUNTED
            self._show.set_enqueued(f"at least {counted}" if more else str(counted))
