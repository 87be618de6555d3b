"""The database of a caller: that of a connection of any supported library, or of the environment."""

import os
from collections.abc import Awaitable, Callable
from functools import cache
from importlib import import_module
from threading import get_ident
from typing import Any
from weakref import WeakSet

import psycopg

from minutehand.database.database import Database
from minutehand.database.executor import Executor, ExecutorSource
from minutehand.errors import ConnectionTypeError
from minutehand.settings import database_url

# By the package of a connection's type. Each module has a function `adapt`, and is imported when it is needed.
INTEGRATIONS = ("asyncpg", "django", "psycopg2", "sqlalchemy")

# Returns an executor for an async connection.
Open = Callable[[], Awaitable[Executor]]


def database_of(connection: Any) -> Database:
    """Return the database of a sync connection, a Database, or with None that of the environment.

    Raises ConnectionTypeError for anything else.
    """
    found = resolve(connection)
    if isinstance(found, Database):
        return found
    raise ConnectionTypeError(type(connection), "pass a sync connection here")


def resolve(connection: Any) -> Database | Executor | Open:
    """Return the database of a sync connection, or the executor of an async one, or a function that opens it."""
    match connection:
        case None:
            return default_database()
        case Database() | Executor():
            return connection
        case psycopg.Connection():
            return Database.borrow(connection)
        case ExecutorSource():
            return connection.executor()
        case psycopg.AsyncConnection():
            # Imported only when used, for the sake of cold starts.
            from minutehand.database.async_connection import ConnectionExecutor

            return ConnectionExecutor(connection)
    return _adapted(connection)


def _adapted(connection: Any) -> Database | Executor | Open:
    packages = {base.__module__.partition(".")[0] for base in type(connection).__mro__}
    for name in INTEGRATIONS:
        if name in packages:
            integration = import_module(f"minutehand.integrations.{name}")
            found: Database | Executor | Open = integration.adapt(connection)
            return found
    raise ConnectionTypeError(type(connection))


def default_database() -> Database:
    """Return this thread's database, from the environment.

    Threads and forked processes do not share connections, so that a rollback affects one of them only.
    """
    return thread_database(os.getpid(), get_ident())


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
