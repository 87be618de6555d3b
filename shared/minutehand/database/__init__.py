"""Database: the only package that knows the driver. Connections survive a frozen process; driver errors do not leak.

It works through transaction poolers: no `SET`, session locks or LISTEN, and prepared statements only on direct
connections. Every statement is a transaction of its own unless the caller opens one.
"""

from typing import TYPE_CHECKING, Any

from psycopg import sql

from minutehand.database.callers import (
    close_thread_databases,
    database_of,
    default_database,
    resolve,
    thread_database,
)
from minutehand.database.database import Database
from minutehand.database.executor import Executor
from minutehand.database.fetching import Record
from minutehand.database.opening import AsyncConnection, Connection, connect, conninfo
from minutehand.database.sync_or_async import (
    executed,
    iterated_chunks,
    sync_or_async,
    sync_or_async_iterator,
)

if TYPE_CHECKING:
    from minutehand.database.connectable import AsyncConnectable, Connectable
else:
    # Only type checkers need them, and creating protocols takes time at every cold start.
    AsyncConnectable = Connectable = Any

__all__ = [
    "AsyncConnectable",
    "AsyncConnection",
    "Connectable",
    "Connection",
    "Database",
    "Executor",
    "Record",
    "close_thread_databases",
    "connect",
    "conninfo",
    "database_of",
    "default_database",
    "executed",
    "iterated_chunks",
    "resolve",
    "sql",
    "sync_or_async",
    "sync_or_async_iterator",
    "thread_database",
]
