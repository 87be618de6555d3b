"""AsyncDatabase: a small pool of async connections, with the rules of Database."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from time import time
from typing import Any, Self
from weakref import WeakKeyDictionary

import psycopg
from psycopg.pq import TransactionStatus
from psycopg.types.json import set_json_loads

from minutehand.database.async_connection import AsyncExecutor, ConnectionExecutor
from minutehand.database.driver_errors import translated
from minutehand.database.executor import Executor, ExecutorSource
from minutehand.database.fetching import Record
from minutehand.database.liveness import READ_ONLY, is_suspect, responds
from minutehand.database.opening import AsyncConnection, Dial, Parts, open_connection
from minutehand.database.preparing import Preparing
from minutehand.errors import ConfigurationError
from minutehand.model.payload import decode
from minutehand.settings import database_url

CONNECTIONS = 4


class AsyncDatabase(ExecutorSource):
    """A database for `async` code: pass it as `connection`, and await the result.

    It opens at most `connections` connections, each at first use, and again when one broke or may have died while the
    process was frozen. `url` may be a function; it is called for each connection, so that it can return a rotated
    password. The default is that of the environment. Event loops do not share connections.
    """

    def __init__(
        self, url: str | Callable[[], str] = database_url, *, connections: int = CONNECTIONS
    ) -> None:
        """Remember the URL; no connection is opened yet."""
        if connections < 1:
            raise ConfigurationError(f"connections must be an integer of at least 1, got {connections}")
        self._url, self._size = url, connections
        self._loop: asyncio.AbstractEventLoop | None = None
        self._free = asyncio.Semaphore(connections)
        # The connections that are not in use, and when each was used last. The last one is used first.
        self._idle: list[tuple[AsyncConnection, float]] = []
        self._preparing: WeakKeyDictionary[AsyncConnection, Preparing] = WeakKeyDictionary()

    async def __aenter__(self) -> Self:
        """Return the database, which is closed at the end of the block."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the connections."""
        await self.close()

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[AsyncConnection]:
        """Open a transaction. Pass its connection as `connection`, and use it for your own statements."""
        async with self.acquire() as connection, ConnectionExecutor(connection).transaction():
            yield connection

    @asynccontextmanager
    async def acquire(self) -> AsyncIterator[AsyncConnection]:
        """Take a connection, for this block alone. It is in autocommit mode."""
        self._use_running_loop()
        async with self._free:
            connection = await self._connection()
            try:
                yield connection
            except READ_ONLY:
                # After a failover, another server accepts writes.
                _discard(connection)
                self._discard_idle()
                raise
            finally:
                self._release(connection)

    async def close(self) -> None:
        """Close the connections that are not in use."""
        while self._idle:
            await self._idle.pop()[0].close()

    def executor(self) -> Executor:
        """Return an executor for one call."""
        return PoolExecutor(self)

    def executor_on(self, connection: AsyncConnection) -> ConnectionExecutor:
        """Return an executor on one of the connections, which has prepared statements of its own."""
        return ConnectionExecutor(connection, self._preparing[connection])

    def _use_running_loop(self) -> None:
        """Forget the connections of another event loop, such as that of an earlier invocation."""
        loop = asyncio.get_running_loop()
        if loop is self._loop:
            return
        self._loop, self._free = loop, asyncio.Semaphore(self._size)
        self._discard_idle()

    def _discard_idle(self) -> None:
        while self._idle:
            _discard(self._idle.pop()[0])

    async def _connection(self) -> AsyncConnection:
        while self._idle:
            connection, used = self._idle.pop()
            if not is_suspect(connection, used) or await asyncio.to_thread(responds, connection):
                return connection
            _discard(connection)
        with translated():
            connection = await open_connection(self._url, _DIAL)
        set_json_loads(decode, connection)
        self._preparing[connection] = Preparing(connection)
        return connection

    def _release(self, connection: AsyncConnection) -> None:
        """Keep the connection for later, unless it broke or a cancelled task left it in a transaction."""
        if connection.info.transaction_status == TransactionStatus.IDLE and not connection.closed:
            self._idle.append((connection, time()))
        else:
            _discard(connection)


class PoolExecutor(AsyncExecutor):
    """Runs statements of one call, each on a free connection, and those of a transaction on the same one."""

    def __init__(self, database: AsyncDatabase) -> None:
        """Take no connection yet."""
        super().__init__(None)
        self._database = database

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open; none is any more in calls after its commit."""
        connection = self.connection
        return connection is not None and connection.info.transaction_status != TransactionStatus.IDLE

    @property
    def autocommit(self) -> bool:
        """Whether statements outside `transaction` commit on their own."""
        return True

    async def execute(self, name: str, parameters: Record) -> list[Record]:
        """Run a named statement once, and return its rows as dictionaries."""
        async with self._taken() as connection:
            return await self._database.executor_on(connection).execute(name, parameters)

    async def copy(self, name: str, rows: Iterable[tuple[object, ...]]) -> None:
        """Send rows with a named COPY statement."""
        async with self._taken() as connection:
            await ConnectionExecutor(connection).copy(name, rows)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[None]:
        """Open a transaction, or a savepoint inside the one that is open."""
        async with self._taken() as connection:
            outer, self.connection = self.connection, connection
            try:
                # Calls after the commit use this connection too: another one may not be free.
                async with ConnectionExecutor(connection).transaction():
                    yield
            finally:
                self.connection = outer

    @asynccontextmanager
    async def block_of_transaction(self) -> AsyncIterator[None]:
        """Open a transaction, or a savepoint inside the one that is open, with the driver's means."""
        async with self.transaction():
            yield

    @asynccontextmanager
    async def _taken(self) -> AsyncIterator[AsyncConnection]:
        if self.connection is not None:
            yield self.connection
            return
        async with self._database.acquire() as connection:
            yield connection


def _discard(connection: AsyncConnection) -> None:
    """Close a connection at once, without its event loop, which may have ended."""
    connection.pgconn.finish()


async def _connect(parts: Parts) -> AsyncConnection:
    connection: AsyncConnection = await psycopg.AsyncConnection.connect(**parts)
    return connection


async def _block(call: Callable[[], Any]) -> Any:
    return await asyncio.to_thread(call)


_DIAL = Dial(_connect, asyncio.sleep, _block)
