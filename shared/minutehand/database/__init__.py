"""Database: the only package that knows the driver. Connections survive a frozen process; driver errors do not leak.

It works through transaction poolers: no prepared statements, `SET`, session locks or LISTEN. Every statement is a
transaction of its own unless the caller opens one.
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

from minutehand.database.after_commit import after_commit, run_after_commit
from minutehand.database.driver_errors import translated
from minutehand.database.fetching import Record, fetch
from minutehand.database.liveness import has_pending_input, responds
from minutehand.database.opening import Connection, connect, conninfo
from minutehand.database.statements import statement
from minutehand.errors import ConfigurationError, ConflictError, ConnectionTypeError, UnreachableError
from minutehand.settings import database_url

__all__ = [
    "Connection",
    "Database",
    "Record",
    "close_thread_databases",
    "connect",
    "conninfo",
    "database_of",
    "default_database",
    "sql",
    "thread_database",
]

Result = TypeVar("Result")

IDLE_SECONDS = 30.0
# Beyond this a duration is sent in days: an interval holds more days than seconds, and then the rule refuses it.
LONGEST_IN_SECONDS = timedelta(days=100_000_000)
CONFLICT_RETRIES = 20


class Database:
    """A database to run statements on.

    It connects at first use, and again when the connection broke or may have died while the process was frozen. `url`
    may be a function; it is called for each connection, so that it can return a rotated password.
    """

    def __init__(self, url: str | Callable[[], str]) -> None:
        """Remember the URL; no connection is opened yet."""
        self._url = url
        self._connection: Connection | None = None
        self._borrowed = False
        self._used = time()

    @classmethod
    def borrow(cls, connection: Connection) -> "Database":
        """Use the caller's connection, and thereby its transaction."""
        database = cls("")
        database._connection, database._borrowed = connection, True
        return database

    @property
    def connection(self) -> Connection:
        """The open connection."""
        if not self._borrowed:
            if self._connection is not None and self._is_dead():
                self.close()
            if self._connection is None:
                self._connection = connect(self._url)
            self._used = time()
        return cast(Connection, self._connection)

    def run(self, name: str, /, **parameters: object) -> list[Record]:
        """Run a named statement and return its rows as dictionaries."""
        return self.retry_on_conflict(lambda: self._run(name, parameters))

    def retry_on_conflict(self, work: Callable[[], Result]) -> Result:
        """Run the work of one transaction, and repeat it after a serialization failure.

        Postgres raises one when a row that a statement waited for has moved to another partition; the next run finds
        it there. In a caller's transaction the error passes through, since the whole transaction has to run again.
        """
        for _ in range(CONFLICT_RETRIES):
            try:
                return work()
            except ConflictError:
                if self.in_transaction:
                    raise
        return work()

    def _run(self, name: str, parameters: Record) -> list[Record]:
        connection = self.connection
        with self._closing_if_broken(), translated(), connection.cursor(row_factory=dict_row) as cursor:
            # On each cursor, since the connection may be borrowed.
            cursor.adapters.register_dumper(timedelta, _Seconds)
            cursor.execute(statement(name), parameters)
            return fetch(cursor)

    def copy(self, name: str, rows: Iterable[tuple[object, ...]]) -> None:
        """Send rows with a named COPY statement."""
        connection = self.connection
        with (
            self._closing_if_broken(),
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
    def transaction(self, *, raw_errors: bool = False) -> Iterator[Connection]:
        """Open a transaction, or a savepoint inside the one that is open.

        With `raw_errors`, for a handler's statements, the driver's errors in the block are not translated.
        """
        connection = self.connection
        raw: list[Exception] = []
        with (
            run_after_commit(connection, outermost=not self.in_transaction),
            self._closing_if_broken(),
            translated(raw),
            connection.transaction(),
        ):
            try:
                yield connection
            except (psycopg.Error, UnicodeEncodeError) as error:
                raw += [error] if raw_errors else []
                raise

    def after_commit(self, call: Callable[[], None]) -> bool:
        """Run a call after the open transaction commits; return False if the transaction is the caller's."""
        return after_commit(self.connection, call)

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        connection = self._connection
        return connection is not None and connection.info.transaction_status != TransactionStatus.IDLE

    def clone(self) -> "Database":
        """Return the same database with a connection of its own."""
        if self._borrowed:
            raise ConfigurationError("this needs a second connection: pass a Database, not a connection")
        return Database(self._url)

    def close(self) -> None:
        """Close the connection, unless it is the caller's."""
        if self._connection is not None and not self._borrowed:
            self._connection.close()
            self._connection = None

    def _is_dead(self) -> bool:
        """Test a connection that was idle for long or has unexpected input.

        Idle time is measured by the wall clock, since the monotonic one may stop while the process is frozen.
        """
        connection = cast(Connection, self._connection)
        if connection.closed:
            return True
        if self.in_transaction:
            return False
        if 0 <= time() - self._used < IDLE_SECONDS and not has_pending_input(connection):
            return False
        return not responds(connection)

    @contextmanager
    def _closing_if_broken(self) -> Iterator[None]:
        try:
            yield
        except UnreachableError:
            self.close()
            raise


def default_database() -> Database:
    """Return this thread's database, from the environment.

    Threads and forked processes do not share connections, so that a rollback affects one of them only.
    """
    return thread_database(os.getpid(), get_ident())


def database_of(connection: Connection | Database | None) -> Database:
    """Return the database of a caller: of its connection, its Database, or the environment.

    Raises ConnectionTypeError for anything else.
    """
    if connection is None:
        return default_database()
    if isinstance(connection, Database):
        return connection
    if isinstance(connection, psycopg.Connection):
        return Database.borrow(connection)
    raise ConnectionTypeError(type(connection))


@cache
def thread_database(_process: int, _thread: int) -> Database:
    """Return the database of one thread. It connects at first use."""
    _thread_databases.add(database := Database(database_url))
    return database


def close_thread_databases() -> None:
    """Close and forget the databases of all threads, for tests whose database is dropped."""
    for database in list(_thread_databases):
        database.close()
    thread_database.cache_clear()


_thread_databases: WeakSet[Database] = WeakSet()


class _Seconds(Dumper):
    """Send durations in seconds: the driver would send days, which have 23 or 25 hours when clocks change."""

    oid = psycopg.postgres.types["interval"].oid

    def dump(self, duration: timedelta) -> bytes:
        if abs(duration) > LONGEST_IN_SECONDS:
            return f"{duration.days} days".encode()
        whole = duration // timedelta(seconds=1)
        return f"{whole} seconds {(duration % timedelta(seconds=1)).microseconds} microseconds".encode()
