"""Database: runs statements on a connection that survives a frozen process."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from threading import RLock
from time import time
from typing import LiteralString, TypeVar

import psycopg
from psycopg.pq import TransactionStatus
from psycopg.rows import dict_row

from minutehand.database.adaptation import adapt
from minutehand.database.after_commit import Call, OnCommit, after_commit, collected
from minutehand.database.completing import complete
from minutehand.database.conflicts import attempts
from minutehand.database.driver_errors import translate, translated
from minutehand.database.fetching import Record, fetch
from minutehand.database.liveness import is_dead, must_be_replaced
from minutehand.database.opening import Connection, connect
from minutehand.database.pipelining import pipelined
from minutehand.database.preparing import Preparing, execute_prepared
from minutehand.database.statements import statement
from minutehand.errors import ConfigurationError, ConflictError, DatabaseError, MinutehandError

Result = TypeVar("Result")


class Database:
    """A database to run statements on.

    It connects at first use, and again when the connection broke or may have died while the process was frozen. `url`
    may be a function; it is called for each connection, so that it can return a rotated password. Threads that share
    it take turns.
    """

    on_commit: OnCommit | None = None

    def __init__(self, url: str | Callable[[], str]) -> None:
        """Remember the URL; no connection is opened yet."""
        self._url = url
        self._connection: Connection | None = None
        # None for the caller's connection, whose owner decides.
        self._preparing: Preparing | None = None
        self._borrowed = False
        self._second: Database | None = None
        self.turn = RLock()  # of the thread that runs a statement or a transaction
        self._used = time()

    @classmethod
    def borrow(cls, connection: Connection, on_commit: OnCommit | None = None) -> "Database":
        """Use the caller's connection, and thereby its transaction.

        `on_commit` registers calls with the library of the caller, which runs them after the caller's commit.
        """
        database = cls("")
        database._connection, database._borrowed, database.on_commit = connection, True, on_commit
        return database

    @property
    def connection(self) -> Connection:
        """The open connection."""
        if not self._borrowed:
            if self._connection is not None and is_dead(self._connection, self._used):
                self.disconnect()
            if self._connection is None:
                self._connection = connect(self._url)
                self._preparing = Preparing(self._connection)
            self._used = time()
        return self._connection  # type: ignore[return-value]

    def run(self, name: str, /, **parameters: object) -> list[Record]:
        """Run a named statement and return its rows as dictionaries."""
        with self.turn:
            try:
                return self.execute(name, parameters)
            except ConflictError:
                if self.in_transaction:
                    raise
            return self.retry_on_conflict(lambda: self.execute(name, parameters))

    def run_together(self, *calls: tuple[str, Record]) -> list[list[Record]] | None:
        """Run statements in one transaction and one round trip; None if that fails or nothing is prepared here."""
        with self.turn:
            try:
                return self._run_prepared(calls)
            except MinutehandError:
                return None

    def retry_on_conflict(self, work: Callable[[], Result]) -> Result:
        """Run the work of one transaction, and repeat it after a serialization failure."""
        for attempt in attempts(self):
            with attempt:
                return work()
        raise AssertionError("the last attempt returns or raises")

    def execute(self, name: str, parameters: Record) -> list[Record]:
        """Run a named statement once, and return its rows as dictionaries."""
        with self.turn:
            if (results := self._run_prepared([(name, parameters)])) is not None:
                return results[0]
            return self._run_text(statement(name), parameters)

    def _run_prepared(self, calls: Sequence[tuple[str, Record]]) -> list[list[Record]] | None:
        """Run statements as prepared ones; return None if they have to run unprepared."""
        # Nothing is prepared on the caller's connection. Ours is open, or is opened here.
        if self._borrowed or not self.connection or self._preparing is None:
            return None
        statements = [(name, statement(name), parameters) for name, parameters in calls]
        # Not the context managers of `_cursor`, which take longer than the rest.
        try:
            return execute_prepared(self._preparing, statements, self._run_text)
        except (psycopg.Error, UnicodeEncodeError) as error:
            translation = translate(error)
            self._disconnect_after(translation)
            raise translation from error

    def _run_text(self, text: LiteralString, parameters: Record | None = None) -> list[Record]:
        with self._cursor() as cursor:
            return fetch(cursor.execute(text, parameters))

    def execute_each(self, name: str, parameters: Iterable[Record]) -> list[Record]:
        """Run a named statement of one row for each of these parameters, in a transaction; return the rows.

        The server works while the next parameters are computed.
        """
        cursors: list[psycopg.Cursor[Record]] = []
        with ExitStack() as stack:
            with self.turn, translated(), pipelined(self.connection):
                for each in parameters:
                    cursors.append(stack.enter_context(self._cursor()))
                    cursors[-1].execute(statement(name), each)
            return [fetch(cursor)[0] for cursor in cursors]

    def copy(self, name: str, rows: Iterable[tuple[object, ...]]) -> None:
        """Send rows with a named COPY statement."""
        with self._cursor() as cursor, cursor.copy(statement(name)) as copy:
            for row in rows:
                copy.write_row(row)

    @contextmanager
    def _cursor(self) -> Iterator[psycopg.Cursor[Record]]:
        with (
            self.turn,
            self._closing_if_broken(),
            translated(),
            # Not the caller's cursor factory, which may bind parameters in another way.
            psycopg.Cursor(self.connection, row_factory=dict_row) as cursor,
        ):
            adapt(cursor, borrowed=self._borrowed)
            yield cursor

    @contextmanager
    def transaction(self, *, raw_errors: bool = False) -> Iterator[Connection]:
        """Open a transaction, or a savepoint inside the one that is open.

        With `raw_errors`, for a handler's statements, the driver's errors in the block are not translated.
        """
        with self.turn, self._begun(raw_errors=raw_errors) as connection:
            yield connection

    @contextmanager
    def _begun(self, *, raw_errors: bool) -> Iterator[Connection]:
        if self._borrowed and not self.in_transaction and not self.autocommit:
            # Begins the transaction that the caller expects; otherwise our block would commit.
            self.execute("clock", {})
        connection = self.connection
        with (
            collected(connection, in_transaction=self.in_transaction, on_commit=self.on_commit) as calls,
            self._block_of_transaction(raw_errors=raw_errors),
        ):
            yield connection
        for call in calls:
            complete(call())

    @contextmanager
    def _block_of_transaction(self, *, raw_errors: bool) -> Iterator[None]:
        raw: list[Exception] = []
        with self._closing_if_broken(), translated(raw), self.connection.transaction():
            try:
                yield
            except (psycopg.Error, UnicodeEncodeError) as error:
                raw += [error] if raw_errors else []
                raise

    def after_commit(self, call: Call) -> bool:
        """Run a call after the open transaction commits; return False if its commit is not visible here."""
        return after_commit(self.connection, call, self.on_commit)

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        connection = self._connection
        if connection is None or connection.pgconn.transaction_status == TransactionStatus.IDLE:
            return False
        # A statement of another thread may be running.
        with self.turn:
            connection = self._connection
            return connection is not None and connection.pgconn.transaction_status != TransactionStatus.IDLE

    @property
    def autocommit(self) -> bool:
        """Whether statements outside `transaction` commit on their own."""
        return self.connection.autocommit

    @property
    def borrowed(self) -> bool:
        """Whether the connection is the caller's, so that there can be no other one."""
        return self._borrowed

    @property
    def second(self) -> "Database":
        """The same database with a second connection, which this one closes; the caller's connection has none."""
        if self._borrowed:
            return self
        if self._second is None:
            self._second = self.clone()
        return self._second

    def clone(self) -> "Database":
        """Return the same database with a connection of its own."""
        if self._borrowed:
            raise ConfigurationError("expected a Database with a URL, got one with its caller's connection")
        return Database(self._url)

    def close(self) -> None:
        """Close the connection, unless it is the caller's, and the second one."""
        self.disconnect()
        if self._second is not None:
            self._second.close()

    def disconnect(self) -> None:
        """Close the connection, unless it is the caller's."""
        if self._connection is not None and not self._borrowed:
            self._connection.close()
            self._connection = None

    @contextmanager
    def _closing_if_broken(self) -> Iterator[None]:
        try:
            yield
        except (DatabaseError, psycopg.Error) as error:
            self._disconnect_after(error)
            raise

    def _disconnect_after(self, error: Exception) -> None:
        if self._connection is not None and must_be_replaced(self._connection, error):
            self.disconnect()
