"""The database in an event loop, which must not wait for it.

Statements of the library run in one thread, one after another. A transaction of an async handler has the database's
second connection, so that statements of other jobs do not become part of it; one transaction is open at a time.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, asynccontextmanager
from contextvars import copy_context
from functools import cache, partial
from typing import ParamSpec, TypeVar
from weakref import WeakKeyDictionary

import psycopg
from psycopg.pq import TransactionStatus
from psycopg.types.json import set_json_loads

from minutehand.database.after_commit import collected
from minutehand.database.database import Database
from minutehand.database.opening import AsyncConnection, Connection
from minutehand.model.payload import decode

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


async def in_database_thread(
    call: Callable[Parameters, Result], *args: Parameters.args, **options: Parameters.kwargs
) -> Result:
    """Run a call in the database's thread, with the caller's context variables.

    A call that has begun ends even if the caller is cancelled, which is raised after it.
    """
    bound = partial(copy_context().run, call, *args, **options)
    running = asyncio.get_running_loop().run_in_executor(_thread(os.getpid()), bound)
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.wait([running])
        raise


class Transaction:
    """An open transaction: the connection of the handler, and the database for statements of the library in it."""

    def __init__(self, database: Database) -> None:
        """Begin in `__aenter__`."""
        self.database = database
        self.connection: AsyncConnection
        self._stack = ExitStack()

    async def begin(self) -> None:
        """Begin, and make the connection usable in the loop."""
        self.connection = await _async_view(await in_database_thread(lambda: self.database.connection))
        await in_database_thread(self._stack.enter_context, self.database.transaction(raw_errors=True))

    async def commit(self, last: Callable[[], Result], committed: Callable[[Result], None]) -> None:
        """Run the last call of the transaction, commit, and pass its result on. Once begun, this is not cancelled."""

        def finish() -> None:
            with self._stack:
                result = last()
            committed(result)

        await in_database_thread(finish)

    async def roll_back(self, error: BaseException) -> None:
        """Roll back what was not committed."""
        await in_database_thread(self._stack.__exit__, type(error), error, error.__traceback__)


@asynccontextmanager
async def transaction(database: Database) -> AsyncIterator[Transaction]:
    """Open a transaction on the second connection, once no other one is open; the block must call `commit` last."""
    async with _turn(database.second):
        opened = Transaction(database.second)
        try:
            await opened.begin()
            with collected(opened.connection, in_transaction=database.borrowed, on_commit=None) as calls:
                yield opened
        except BaseException as error:
            await opened.roll_back(error)
            raise
        for call in calls:
            await call()


async def _async_view(connection: Connection) -> AsyncConnection:
    """Return an async connection with the same session, so that both can take part in one transaction.

    They must take turns. There is one for each connection, which lives as long.
    """
    if connection not in _views:
        _views[connection] = psycopg.AsyncConnection(connection.pgconn)
    view = _views[connection]
    # The lock of another loop would not work in this one.
    view.lock = asyncio.Lock()
    # The names of its prepared statements would be those of the sync connection.
    view.prepare_threshold = None
    set_json_loads(decode, view)
    if connection.info.transaction_status == TransactionStatus.IDLE:
        await view.set_autocommit(True)
    return view


def _turn(database: Database) -> asyncio.Lock:
    turns = _turns.setdefault(database, WeakKeyDictionary())
    return turns.setdefault(asyncio.get_running_loop(), asyncio.Lock())


@cache
def _thread(_process: int) -> ThreadPoolExecutor:
    """Return the executor of this process; a forked process has its own."""
    return ThreadPoolExecutor(1, "minutehand-database")


_views: WeakKeyDictionary[Connection, AsyncConnection] = WeakKeyDictionary()
_turns: WeakKeyDictionary[Database, WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock]]
_turns = WeakKeyDictionary()
