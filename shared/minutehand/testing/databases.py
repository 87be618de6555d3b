"""A database for each test: the schema and the user's own tables are made once, in a template, and copied."""

import re
from collections.abc import Callable, Iterator
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

# Where a new session looks for what is named without its schema. New tables go to public, as ever.
SEARCH_PATH = '"$user", public, minutehand_testing, pg_catalog'
END_SESSIONS = "select pg_terminate_backend(pid) from pg_stat_activity where datname = %s and pid <> %s"


class Databases:
    """The copies of a template, on a server that stays open for the length of a run."""

    def __init__(self, url: str, template: str, strategy: str = "", *, clock: bool = True) -> None:
        """Remember the server; `clock` tells whether the template has a clock that tests move."""
        self.url = url
        self._template, self._strategy, self._clock = template, strategy, clock

    @contextmanager
    def clone(self, *, migrated: bool = True) -> Iterator[str]:
        """Make a copy and yield its URL; drop it afterwards, even if it is still in use."""
        url = self.make(migrated=migrated)
        try:
            yield url
        finally:
            self.drop(url)

    def make(self, *, migrated: bool = True) -> str:
        """Copy the template, or an empty database, and return the URL."""
        name = self._template.removesuffix("template") + uuid4().hex[:12]
        source = f"{self._template} {self._strategy}" if migrated else "template0"
        self._execute(f"create database {name} template {source}")
        try:
            if self._clock:  # a copy has everything of its template except the settings
                self._execute(f"alter database {name} set search_path = {SEARCH_PATH}")
            url = at(self.url, name)
            with closing(connect(url)) as connection:
                refuse_another(connection, name)
        except BaseException:
            self.drop(at(self.url, name))
            raise
        return url

    def drop(self, url: str) -> None:
        """Drop a database, even if it is still in use."""
        self._execute(f"drop database {database_name(url)} with (force)")

    def end_sessions(self, url: str, but: int = 0) -> None:
        """End every session at a database except that of one process, and return when they have ended."""
        while self._connection.execute(END_SESSIONS, [database_name(url), but]).fetchone():
            sleep(0.001)

    def close(self) -> None:
        """Close what is open."""
        if "_connection" in self.__dict__:
            self._connection.close()

    def _execute(self, statement: str) -> None:
        """Run a statement with a name in it, which no parameter can be; the names are made here."""
        self._connection.execute(statement.encode())

    @cached_property
    def _connection(self) -> Connection:
        return connect(self.url)


def make_template(url: str, name: str, migrate: Callable[[str], object], *, clock: bool = True) -> None:
    """Make the template: the clock, the schema, then whatever `migrate` makes at the URL that it is given."""
    with closing(connect(url)) as connection:
        connection.execute(f"drop database if exists {name} with (force)".encode())
        connection.execute(f"create database {name}".encode())
        if clock:
            connection.execute(f"alter database {name} set search_path = {SEARCH_PATH}".encode())
        with closing(Database(at(url, name))) as template:
            refuse_another(template.connection, name)
            if clock:
                run(template, "clock")
            migrate_minutehand(template)
            if clock:
                run(template, "clock_for_functions")
        migrate(at(url, name))
        connection.execute(f"alter database {name} allow_connections false".encode())
        connection.execute(END_SESSIONS, [name, 0])


def database_name(url: str) -> str:
    """Return the name of the database that a URL of `at` leads to."""
    return urlsplit(url).path[1:]


def at(url: str, database: str) -> str:
    """Return the URL of another database of the same server.

    The driver reads the given one, whose query may name a database, too, and goes before its path.
    """
    parts = {name: str(said) for name, said in read_url(url).items() if name != "dbname"}
    who = ("user", "password") if "user" in parts else ()
    login = ":".join(quote(parts.pop(name), safe="") for name in who if name in parts)
    host = ""
    if re.fullmatch(r"[A-Za-z0-9.-]+", parts.get("host", "")):  # neither a directory nor several
        host = ":".join(parts.pop(name) for name in ("host", "port") if name in parts)
    rest = urlencode(parts, quote_via=quote)
    return f"postgresql://{login}{login and '@'}{host}/{database}{rest and '?'}{rest}"


def refuse_another(connection: Connection, name: str) -> None:
    """Refuse to go on in any other database than the one that was made for it, whoever leads there."""
    found = connection.execute("select current_database()").fetchone()
    if found != (name,):
        raise ConfigurationError(
            f"the server of the tests leads to another database than {name}, where nothing was written: "
            "name the server itself, not a pooler, in MINUTEHAND_TEST_DATABASE_URL"
        )
