"""One database for many tests: each test's rows are deleted, and a database whose schema changed is replaced.

A reset takes a few milliseconds; copying the template and dropping the copy takes more than a hundred.
"""

from collections.abc import Iterable
from contextlib import suppress

from minutehand.database import Connection, connect
from minutehand.database.driver_errors import translated
from minutehand.errors import MinutehandError
from minutehand.testing.databases import Databases
from minutehand.testing.statements import text

EXISTING = "select string_agg(oid::text, ', ') from pg_class where relkind in ('r', 'p')"
PREPARE = ("set session_replication_role = replica", "set lock_timeout = '10s'")
# Pages of 8 KiB with deleted rows, without those of indexes; above this number a new copy is faster.
DEAD_PAGES = 1000


class ReusedDatabase:
    """A copy of the template that is reset between tests."""

    def __init__(self, databases: Databases) -> None:
        """Create the first copy when a test needs it."""
        self._databases = databases
        self._copy: _Copy | None = None
        self.copies = 0

    @property
    def url(self) -> str:
        """The URL of a database in the template's state."""
        if self._copy is None:
            self._copy = _Copy(self._databases.make())
            self.copies += 1
        return self._copy.url

    def reset(self, keep: Iterable[int] = ()) -> None:
        """Restore the template's state; this ends all sessions of the database but those of some server processes."""
        if self._copy is None:
            return
        self._databases.end_sessions(self._copy.url, keep=[self._copy.session, *keep])
        if not self._copy.reset():
            self.discard()

    def discard(self) -> None:
        """Drop the copy; the next test gets a new one."""
        if self._copy is not None:
            self._copy.close()
            self._databases.drop(self._copy.url)
            self._copy = None


class _Copy:
    """A copy of the template, a temporary function that resets it, and its result for an unchanged schema.

    Its session stays open, because a new one would first read the whole catalog and plan each statement. A test that
    ends it costs a new copy.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self._connection = connect(url)
        self.session = self._connection.info.backend_pid
        _make_reset(self._connection)
        self._catalog, self._pages = self._run()

    def reset(self) -> bool:
        """Reset the copy in one round trip; return False if its schema changed or too many dead rows are left."""
        with suppress(MinutehandError), translated():
            catalog, pages = self._run()
            return catalog == self._catalog and pages - self._pages < DEAD_PAGES
        return False

    def close(self) -> None:
        self._connection.close()

    def _run(self) -> tuple[str, int]:
        return self._connection.execute("select catalog, pages from pg_temp.reset()").fetchone() or ("", 0)


def _make_reset(connection: Connection) -> None:
    """Store the rows of the template in temporary tables, and create the function that restores them."""
    (existing,) = connection.execute(EXISTING).fetchone() or ("",)
    tables = connection.execute(text("tables")).fetchall()
    for statement in PREPARE:
        connection.execute(statement.encode())
    statements = [f"delete from only {name};" for name, _ in tables]
    for number, (name, columns) in enumerate(tables):
        stored = f"pg_temp.rows_{number}"
        if connection.execute(
            f"create temp table rows_{number} as select {columns} from only {name}".encode()
        ).rowcount:
            statements.append(
                f"insert into {name} ({columns}) overriding system value select * from {stored};"
            )
    body = text("reset").replace("{existing}", existing).replace("{restore}", "\n".join(statements))
    connection.execute(body.replace("{catalog}", text("catalog")).encode())
