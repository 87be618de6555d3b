"""SQLAlchemy 2: sessions and connections, sync and async, over psycopg, psycopg2 and asyncpg."""

from collections.abc import Callable
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

from sqlalchemy import Connection, event
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession, async_scoped_session
from sqlalchemy.orm import Session, SessionTransaction, scoped_session

from minutehand.database import Database, Executor
from minutehand.database.after_commit import Call, OnCommit
from minutehand.database.async_connection import AsyncExecutor
from minutehand.database.callers import Open, resolve
from minutehand.database.completing import complete
from minutehand.errors import ConnectionTypeError

Run = Callable[[Call], None]


def adapt(connection: Any) -> Database | Open:
    """Return the database of a sync session or connection, or the opener of an async one."""
    if isinstance(connection, (scoped_session, async_scoped_session)):
        connection = connection()
    match connection:
        case Session():
            database = _database(connection.connection())
            database.on_commit = _on_commit(connection, lambda call: complete(call()))
            return database
        case Connection():
            return _database(connection)
        case AsyncSession():
            return partial(_open_session, connection)
        case AsyncConnection():
            return partial(_open, connection)
    raise ConnectionTypeError(type(connection), "begin a transaction: with engine.begin() as connection")


def _database(connection: Connection) -> Database:
    if connection.dialect.is_async:
        raise ConnectionTypeError(
            type(connection), "its driver is async; pass the AsyncSession or AsyncConnection"
        )
    if not connection.in_transaction():
        connection.begin()
    database = _resolved(connection.connection.driver_connection, connection)
    assert isinstance(database, Database)
    return database


async def _open_session(session: AsyncSession) -> Executor:
    connection = await session.connection()
    executor = await _open(connection)
    adapted: Any = (await connection.get_raw_connection()).dbapi_connection

    def run(call: Call) -> None:
        # The session commits in a greenlet, in which this awaits the call.
        adapted.run_async(lambda _driver_connection: call())

    executor.on_commit = _on_commit(session.sync_session, run)
    return executor


async def _open(connection: AsyncConnection) -> AsyncExecutor:
    if not connection.in_transaction():
        await connection.begin()
    driver_connection: Any = (await connection.get_raw_connection()).driver_connection
    if connection.dialect.driver == "asyncpg" and not driver_connection.is_in_transaction():
        # SQLAlchemy begins asyncpg's transaction with its first statement.
        await connection.exec_driver_sql("select 1")
    executor = _resolved(driver_connection, connection)
    assert isinstance(executor, AsyncExecutor)
    return executor


def _resolved(driver_connection: Any, connection: Connection | AsyncConnection) -> Any:
    try:
        return resolve(driver_connection)
    except ConnectionTypeError:
        raise ConnectionTypeError(
            type(connection), f"its driver is {connection.dialect.driver}; use psycopg, psycopg2 or asyncpg"
        ) from None


class Waiting:
    """The calls of a session that wait for its commit."""

    def __init__(self, session: Session) -> None:
        """Listen to the session."""
        self._calls: list[tuple[SessionTransaction, Call, Run]] = []
        event.listen(session, "after_commit", self._committed)
        event.listen(session, "after_soft_rollback", self._rolled_back)
        event.listen(session, "after_transaction_end", self._ended)

    def add(self, session: Session, call: Call, run: Run) -> None:
        """Add a call to the transaction or savepoint that is open."""
        transaction = session.get_nested_transaction() or session.get_transaction()
        assert transaction is not None
        self._calls.append((transaction, call, run))

    def _committed(self, session: Session) -> None:
        # The event is also that of a savepoint that is released.
        if session.in_nested_transaction():
            return
        calls, self._calls = self._calls, []
        for _, call, run in calls:
            run(call)

    def _rolled_back(self, _session: Session, ended: SessionTransaction) -> None:
        self._calls = [each for each in self._calls if not _is_within(each[0], ended)]

    def _ended(self, _session: Session, transaction: SessionTransaction) -> None:
        # A session that is closed without a commit has no rollback event.
        if transaction.parent is None:
            self._calls = []


_waiting: "WeakKeyDictionary[Session, Waiting]" = WeakKeyDictionary()


def _on_commit(session: Session, run: Run) -> OnCommit:
    if session not in _waiting:
        _waiting[session] = Waiting(session)
    waiting = _waiting[session]
    return lambda call: waiting.add(session, call, run)


def _is_within(transaction: SessionTransaction | None, ended: SessionTransaction) -> bool:
    while transaction is not None:
        if transaction is ended:
            return True
        transaction = transaction.parent
    return False
