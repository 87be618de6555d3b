"""The types that `connection=` accepts. Those of other libraries are described, so that none has to be installed."""

from collections.abc import Callable, Coroutine
from typing import Any, Protocol, TypeAlias

import psycopg

from minutehand.database.database import Database
from minutehand.database.executor import Executor, ExecutorSource


class SQLAlchemyTransaction(Protocol):
    """A Session or Connection of SQLAlchemy, or a scoped session."""

    begin_nested: Callable[..., Any]

    def commit(self) -> None:
        """Commit."""


class DjangoConnection(Protocol):
    """`django.db.connection`, or one of `django.db.connections`."""

    savepoint_commit: Callable[..., Any]

    def commit(self) -> None:
        """Commit."""


class Psycopg2Connection(Protocol):
    """A connection of psycopg2."""

    get_transaction_status: Callable[..., Any]

    def commit(self) -> None:
        """Commit."""


class AsyncSQLAlchemyTransaction(Protocol):
    """An AsyncSession or AsyncConnection of SQLAlchemy, or a scoped async session."""

    begin_nested: Callable[..., Any]

    def commit(self) -> Coroutine[Any, Any, None]:
        """Commit."""


class AsyncpgConnection(Protocol):
    """A connection of asyncpg, of your own or of a pool."""

    copy_records_to_table: Callable[..., Any]

    def is_in_transaction(self) -> bool:
        """Whether a transaction is open."""


Connectable: TypeAlias = (
    Database | psycopg.Connection[Any] | SQLAlchemyTransaction | DjangoConnection | Psycopg2Connection
)
AsyncConnectable: TypeAlias = (
    Executor | ExecutorSource | psycopg.AsyncConnection[Any] | AsyncSQLAlchemyTransaction | AsyncpgConnection
)
