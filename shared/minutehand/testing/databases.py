"""A database for each test, copied from a template with the schema and the user's tables."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cached_property
from time import sleep
from urllib.parse import quote, urlencode, urlsplit
from uuid import uuid4

from minutehand.database import Connection, Database, connect
from minutehand.database.opening import read_url
from minutehand.errors import ConfigurationError
from minutehand.schema.migrate import migrate as migrate_minutehand
from minutehand.testing.statements import run

# Search path of new sessions. New tables are created in public, as usual.
SEARCH_PATH = '"$user", public, minutehand_testing, pg_catalog'
END_SESSIONS = "select pg_terminate_backend(pid) from pg_stat_activity where datname = %s and pid <> all(%s)"


class Databases:
    """The copies of a template, on a server that runs as long as the test run."""

    def __init__(self, url: str, template: str, strategy: str = "", *, clock: bool = True) -> None:
        """Store the server; `clock` is whether the template has a clock that tests can move."""
        self.url = url
        self._template, self._strategy, self._clock = template, strategy, clock

    @contextmanager
    def clone(self, *, migrated: bool = True) -> Iterator[str]:
        """Create a copy and yield its URL; drop it afterwards, even if it is still in use."""
        url = self.make(migrated=migrated)
        try:
            yield url
        finally:
            self.drop(url)

    def make(self, *, migrated: bool = True) -> str:
        """Create a copy of the template, or an empty database, and return its URL."""
        name = self._template.removesuffix("template") + uuid4().hex[:12]
        source = f"{self._template} {self._strategy}" if migrated else "template0"
        self._execute(f"create database {name} template {source}")
        try:
            # A copy does not inherit the settings of its template.
            if self._clock:
                self._execute(f"alter database {name} set search_path = {SEARCH_PATH}")
            url = at(self.url, name)
            with closing(connect(url)) as connection:
                check_database(connection, name)
        except BaseException:
            self.drop(at(self.url, name))
            raise
        return url

    def drop(self, url: str) -> None:
        """Drop a database, even if it is still in use."""
        self._execute(f"drop database {database_name(url)} with (force)")

    def end_sessions(self, url: str, keep: Sequence[int] = ()) -> None:
        """End every session at a database except those of some processes, and return when they have ended."""
        while self._connection.execute(END_SESSIONS, [database_name(url), list(keep)]).fetchone():
            sleep(0.001)

    def close(self) -> None:
        """Close the connection."""
        if "_connection" in self.__dict__:
            self._connection.close()

    def _execute(self, statement: str) -> None:
        """Run a statement that contains a name, which cannot be a parameter; all names are generated here."""
        self._connection.execute(statement.encode())

    @cached_property
    def _connection(self) -> Connection:
        return connect(self.url)


def make_template(url: str, name: str, migrate: Callable[[str], object], *, clock: bool = True) -> None:
    """Create the template: the clock, the schema, then call `migrate` with its URL."""
    with closing(connect(url)) as connection:
        connection.execute(f"drop database if exists {name} with (force)".encode())
        connection.execute(f"create database {name}".encode())
        if clock:
            connection.execute(f"alter database {name} set search_path = {SEARCH_PATH}".encode())
        with closing(Database(at(url, name))) as template:
            check_database(template.connection, name)
            if clock:
                run(template, "clock")
            migrate_minutehand(template)
            if clock:
                run(template, "clock_for_functions")
        migrate(at(url, name))
        connection.execute(f"alter database {name} allow_connections false".encode())
        connection.execute(END_SESSIONS, [name, []])


def database_name(url: str) -> str:
    """Return the name of the database in a URL of `at`."""
    return urlsplit(url).path[1:]


def at(url: str, database: str) -> str:
    """Return the URL of another database of the same server.

    The driver parses the URL: a database in its query takes precedence over the one in its path.
    """
    parts = {name: str(value) for name, value in read_url(url).items() if name != "dbname"}
    user = ("user", "password") if "user" in parts else ()
    login = ":".join(quote(parts.pop(name), safe="") for name in user if name in parts)
    host = ""
    # A socket directory or a list of hosts stays in the query.
    if re.fullmatch(r"[A-Za-z0-9.-]+", parts.get("host", "")):
        host = ":".join(parts.pop(name) for name in ("host", "port") if name in parts)
    rest = urlencode(parts, quote_via=quote)
    return f"postgresql://{login}{login and '@'}{host}/{database}{rest and '?'}{rest}"


def check_database(connection: Connection, name: str) -> None:
    """Raise ConfigurationError if a connection is to another database than the one that was created for it."""
    found = connection.execute("select current_database()").fetchone()
    if found != (name,):
        raise ConfigurationError(
            f"MINUTEHAND_TEST_DATABASE_URL connected to another database than {name}; nothing was written. "
            "Set it to the URL of the server, not of a pooler"
        )
