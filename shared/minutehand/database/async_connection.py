"""Run statements on an async connection of psycopg."""

import asyncio
from abc import abstractmethod
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, TypeVar

import psycopg
from psycopg.pq import TransactionStatus
from psycopg.rows import dict_row

from minutehand.database.adaptation import adapt
from minutehand.database.after_commit import Call, OnCommit, after_commit, collected
from minutehand.database.driver_errors import translated
from minutehand.database.executor import Executor
from minutehand.database.fetching import Record, fetch_async
from minutehand.database.opening import AsyncConnection
from minutehand.database.preparing import Preparing, execute_prepared_async
from minutehand.database.statements import statement

Result = TypeVar("Result")


class AsyncExecutor(Executor):
    """What the executors of async drivers share. `on_commit` registers calls with the library of the caller."""

    on_commit: OnCommit | None = None

    def __init__(self, connection: Any) -> None:
        """Use a connection, and thereby its transaction."""
        self.connection = connection

    @property
    def session(self) -> int:
        """A number that identifies the connection, and thereby the open transaction."""
        return id(self.connection)

    @abstractmethod
    def block_of_transaction(self) -> AbstractAsyncContextManager[None]:
        """Open a transaction, or a savepoint inside the one that is open, with the driver's means."""

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[None]:
        """Open a transaction, or a savepoint inside the one that is open."""
        if not self.autocommit and not self.in_transaction:
            # Begins the transaction that the caller expects; otherwise our block would commit.
            await self.execute("clock", {})
        with collected(
            self.connection, in_transaction=self.in_transaction, on_commit=self.on_commit
        ) as calls:
            async with self.block_of_transaction():
                yield
        for call in calls:
            await call()

    def after_commit(self, call: Call) -> bool:
        """Run a call after the open transaction commits; return False if its commit is not visible here."""
        return after_commit(self.connection, call, self.on_commit)

    async def pause(self, seconds: float) -> None:
        """Sleep."""
        await asyncio.sleep(seconds)

    async def block(self, call: Callable[[], Result]) -> Result:
        """Call a function that may block for long, in a thread."""
        return await asyncio.to_thread(call)


class ConnectionExecutor(AsyncExecutor):
    """Runs statements on psycopg's AsyncConnection."""

    connection: AsyncConnection

    def __init__(self, connection: AsyncConnection, preparing: Preparing | None = None) -> None:
        """Use a connection, and thereby its transaction. The owner of a caller's connection decides on preparing."""
        super().__init__(connection)
        self._preparing = preparing

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        return self.connection.info.transaction_status != TransactionStatus.IDLE

    @property
    def autocommit(self) -> bool:
        """Whether statements outside `transaction` commit on their own."""
        return self.connection.autocommit

    async def execute(self, name: str, parameters: Record) -> list[Record]:
        """Run a named statement once, and return its rows as dictionaries."""
        with translated():
            # Not the caller's cursor factory, which may bind parameters in another way.
            async with psycopg.AsyncCursor(self.connection, row_factory=dict_row) as cursor:
                adapt(cursor, borrowed=True)
                prepared = self._preparing
                if prepared is None or not await execute_prepared_async(prepared, cursor, name, parameters):
                    await cursor.execute(statement(name), parameters)
                return await fetch_async(cursor)

    async def copy(self, name: str, rows: Iterable[tuple[object, ...]]) -> None:
        """Send rows with a named COPY statement."""
        with translated():
            async with psycopg.AsyncCursor(self.connection) as cursor:
                adapt(cursor, borrowed=True)
                async with cursor.copy(statement(name)) as copy:
                    for row in rows:
                        await copy.write_row(row)

    @asynccontextmanager
    async def block_of_transaction(self) -> AsyncIterator[None]:
        """Open a transaction, or a savepoint inside the one that is open, with the driver's means."""
        with translated():
            async with self.connection.transaction():
                yield
