"""Sessions at a test's database that stay open between tests.

A new session reads the catalog, and compiles and plans everything again, which takes half of the time of a short test.
"""

from contextlib import suppress

import psycopg
from psycopg.pq import TransactionStatus

from minutehand import Database
from minutehand.database.opening import Connection
from minutehand.database.preparing import Preparing

# As many as most tests of the queue use.
MOST = 2


class Sessions:
    """The sessions that no test uses at the moment."""

    def __init__(self) -> None:
        """Keep nothing yet."""
        self._idle: dict[str, list[Connection]] = {}

    def open(self, url: str) -> Database:
        """Return a connected database, with a session of an earlier test if there is one."""
        for other in set(self._idle) - {url}:
            self._close(other)
        idle = self._idle.get(url)
        if not idle:
            database = Database(url)
            # Connect before a thread uses it.
            assert database.connection
            return database
        return _Reopened(url, idle.pop())

    def keep(self, database: Database, url: str) -> None:
        """Keep the session of a database for the next test, as if it were new, or close it."""
        connection = database._connection
        idle = self._idle.setdefault(url, [])
        if connection is not None and len(idle) < MOST and _renewed(connection):
            database._connection = None
            idle.append(connection)
        database.close()

    def processes(self) -> list[int]:
        """Return the server's processes of the sessions."""
        return [connection.info.backend_pid for idle in self._idle.values() for connection in idle]

    def close(self) -> None:
        """Close the sessions, for a test that expects no others."""
        for url in list(self._idle):
            self._close(url)

    def _close(self, url: str) -> None:
        for connection in self._idle.pop(url):
            connection.close()


class _Reopened(Database):
    """A database with a session that is open already."""

    def __init__(self, url: str, connection: Connection) -> None:
        super().__init__(url)
        self._connection, self._preparing = connection, Preparing(connection)


def _renewed(connection: Connection) -> bool:
    """Discard the state of a session; return False if that is impossible, or the driver has other options now."""
    options = connection.autocommit, connection.isolation_level, connection.read_only, connection.deferrable
    if options != (True, None, None, None) or connection.info.transaction_status != TransactionStatus.IDLE:
        return False
    with suppress(psycopg.Error):
        connection.execute("discard all")
        return True
    return False


# Of this process.
SESSIONS = Sessions()
