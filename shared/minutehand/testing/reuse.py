"""One database for many tests: each test's rows are deleted, and a database whose schema changed is replaced.

A reset takes about ten milliseconds; copying the template and dropping the copy takes more than a hundred.
"""

from contextlib import suppress

from minutehand.database import Connection, connect
from minutehand.database.driver_errors import translated
from minutehand.errors import MinutehandError
from minutehand.testing.databases import Databases
from minutehand.testing.statements import text

EXISTING = "select string_agg(oid::text, ', ') from pg_class where relkind in ('r', 'p')"
PREPARE = ("set session_replication_role = replica", "set lock_timeout = '10s'")
# Pages of 8 KiB with deleted rows; above this number a new copy is faster.
DEAD_PAGES = 2000


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

    def reset(self) -> None:
        """Restore the template's state; this ends all sessions of the database."""
        if self._copy is None:
            return
        self._databases.end_sessions(self._copy.url, but=self._copy.session)
        if not self._copy.reset():
            self.discard()

    def discard(self) -> None:
        """Drop the copy; the next test gets a new one."""
        if self._copy is not None:
            self._copy.close()
            self._databases.drop(self._copy.url)
            self._copy = None


class _Copy:
    """A copy of the template, the statements that reset it, and their result for an unchanged schema.

    Its session stays open, because a new one would first read the whole catalog. A test that ends it costs a new copy.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self._connection = connect(url)
        self.session = self._connection.info.backend_pid
        self._statements = _statements(self._connection)
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
        cursor = self._connection.execute(self._statements)
        while cursor.nextset():
            pass
        catalog, pages = cursor.fetchone() or ("", 0)
        return catalog, pages


def _statements(connection: Connection) -> bytes:
    (existing,) = connection.execute(EXISTING).fetchone() or ("",)
    tables = connection.execute(text("tables")).fetchall()
    inserts = [insert for name, columns in tables for insert in _inserts(connection, name, columns)]
    for statement in (*PREPARE, "prepare catalog as " + text("catalog")):
        connection.execute(statement.encode())
    drop = text("drop_extra_tables").replace("{existing}", existing)
    deletes = [f"delete from only {name}" for name, _ in tables]
    return ";\n".join([drop, *deletes, *inserts, "execute catalog"]).encode()


def _inserts(connection: Connection, name: str, columns: str) -> list[str]:
    """Return a statement that inserts the current rows of a table; no statement if the table is empty."""
    quoted = f"select quote_literal(jsonb_agg(t)::text) from only {name} t having count(*) > 0"
    return [
        f"insert into {name} ({columns}) overriding system value "
        f"select {columns} from jsonb_populate_recordset(null::{name}, {rows})"
        for (rows,) in connection.execute(quoted.encode()).fetchall()
    ]
