"""The one package that knows the driver: a connection that survives a freeze, and errors in our own words.

Pooler-safe on purpose: no prepared statement, no `SET`, no session lock, no LISTEN; every statement is its own
transaction unless a caller opens one.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import cache
from threading import get_ident
from time import time
from typing import Any, TypeVar, cast
from weakref import WeakSet

import psycopg
from psycopg import sql
from psycopg.adapt import Dumper
from psycopg.pq import TransactionStatus
from psycopg.rows import dict_row

from minutehand.database.after_commit import put_off, settling
from minutehand.database.opening import Connection, connect, conninfo
from minutehand.database.liveness import answers, unasked
from minutehand.database.driver_errors import translated
from minutehand.database.statements import statement
from minutehand.errors import ConfigurationError, ConflictError, UnreachableError
from minutehand.settings import database_url

__all__ = [
    "Connection",
    "Database",
    "Record",
    "ambient",
    "close_thread_databases",
    "connect",
    "conninfo",
    "database_of",
    "thread_database",
    "sql",
]

Record = dict[str, Any]
Result = TypeVar("Result")

IDLE_SECONDS = 30.0
FAR = timedelta(days=100_000_000)  # an interval holds more days than seconds; its refusal is then the rule's
CONFLICTS_RETRIED = 20


class Database:
    """A database to send statements to.

    Opens its connection at first use and again when it broke or may have died in a freeze. `url` may be a
    function, asked at each opening, so that a rotated password is picked up.
    """

    def __init__(self, url: str | Callable[[], str]) -> None:
        """Remember where the database is; nothing is opened yet."""
        self._url = url
        self._connection: Connection | None = None
        self._borrowed = False
        self._used = time()

    @classmethod
    def borrow(cls, connection: Connection) -> "Database":
        """Use the caller's own connection, and so the caller's transaction."""
        database = cls("")
        database._connection, database._borrowed = connection, True
        return database

    @property
    def connection(self) -> Connection:
        """The open connection."""
        if not self._borrowed:
            if self._connection is not None and self._died():
                self.close()
            if self._connection is None:
                self._connection = connect(self._url)
            self._used = time()
        return cast(Connection, self._connection)

    def run(self, name: str, /, **parameters: object) -> list[Record]:
        """Run a statement by name and return its rows as dictionaries."""
        return self.retry_on_conflict(lambda: self._run(name, parameters))

    def again(self, work: Callable[[], Result]) -> Result:
        """Do the work of one transaction, and do it again after a serialization failure.

        That is what Postgres answers when a row it waited for has moved to another partition: the next run sees it
        there. Inside a caller's transaction the whole of it would have to run again, so the error comes through.
        """
        for _ in range(CONFLICTS_RETRIED):
            try:
                return work()
            except ConflictError:
                if self.in_transaction:
                    raise
        return work()

    def _run(self, name: str, parameters: Record) -> list[Record]:
        connection = self.connection
        with self._dropping_what_broke(), translated(), connection.cursor(row_factory=dict_row) as cursor:
            cursor.adapters.register_dumper(timedelta, _Seconds)  # on a borrowed connection, too
            cursor.execute(statement(name), parameters)
            return cursor.fetchall() if cursor.description else []

    def copy(self, name: str, rows: Iterable[tuple[object, ...]]) -> None:
        """Send rows through the COPY statement of that name."""
        connection = self.connection
        with (
            self._dropping_what_broke(),
            translated(),
            connection.cursor() as cursor,
        ):
            cursor.adapters.register_dumper(timedelta, _Seconds)
            self._copy(cursor, name, rows)

    def _copy(self, cursor: psycopg.Cursor[Any], name: str, rows: Iterable[tuple[object, ...]]) -> None:
        with cursor.copy(statement(name)) as copy:
            for row in rows:
                copy.write_row(row)

    @contextmanager
    def transaction(self, *, lent: bool = False) -> Iterator[Connection]:
        """Open a transaction, or a savepoint inside the one that is open.

        What fails in a block that is `lent`, to a handler's own statements, comes through in the driver's words.
        """
        connection = self.connection
        theirs: list[Exception] = []
        with (
            settling(connection, outermost=not self.in_transaction),
            self._dropping_what_broke(),
            translated(theirs),
            connection.transaction(),
        ):
            try:
                yield connection
            except (psycopg.Error, UnicodeEncodeError) as error:
                theirs += [error] if lent else []
                raise

    def put_off(self, call: Callable[[], None]) -> bool:
        """Have something done once the open transaction is committed; False if its end is not seen from here."""
        return put_off(self.connection, call)

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open on the connection."""
        connection = self._connection
        return connection is not None and connection.info.transaction_status != TransactionStatus.IDLE

    def beside(self) -> "Database":
        """Return the same database, over a connection of its own."""
        if self._borrowed:
            raise ConfigurationError(
                "a borrowed connection cannot be opened a second time: pass a Database or its URL"
            )
        return Database(self._url)

    def close(self) -> None:
        """Close the connection, unless it is the caller's own."""
        if self._connection is not None and not self._borrowed:
            self._connection.close()
            self._connection = None

    def _died(self) -> bool:
        """Ask a connection that may have died, because it was idle or because something came that nobody asked for.

        The wall clock tells how long it was idle: the other one may stand still in a freeze.
        """
        connection = cast(Connection, self._connection)
        if connection.closed:
            return True
        if self.in_transaction:
            return False
        if 0 <= time() - self._used < IDLE_SECONDS and not unasked(connection):
            return False
        return not answers(connection)

    @contextmanager
    def _dropping_what_broke(self) -> Iterator[None]:
        try:
            yield
        except UnreachableError:
            self.close()
            raise


def ambient() -> Database:
    """Return this thread's own connection to the database that the environment names.

    A thread has its own, since what another one enqueues must not roll back with it; so has a forked process.
    """
    return thread_database(os.getpid(), get_ident())


def database_of(connection: Connection | Database | None) -> Database:
    """Return the database behind what a caller passed: its own connection, a Database, or the environment's."""
    if connection is None:
        return ambient()
    return connection if isinstance(connection, Database) else Database.borrow(connection)


@cache
def thread_database(_process: int, _thread: int) -> Database:
    """Return the database of one thread, opened when it is first asked something."""
    _own.add(database := Database(database_url))
    return database


def close_thread_databases() -> None:
    """Close every thread's own connection, and forget them all, as a test does whose database goes."""
    for database in list(_own):
        database.close()
    thread_database.cache_clear()


_own: WeakSet[Database] = WeakSet()


class _Seconds(Dumper):
    """A duration as seconds: the driver says days, and a day is 23 or 25 hours where the clock changes."""

    oid = psycopg.postgres.types["interval"].oid

    def dump(self, duration: timedelta) -> bytes:
        if abs(duration) > FAR:
            return f"{duration.days} days".encode()
        whole = duration // timedelta(seconds=1)
        return f"{whole} seconds {(duration % timedelta(seconds=1)).microseconds} microseconds".encode()
