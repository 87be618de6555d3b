"""The types that `connection=` accepts. Those of other libraries are described, so that none has to be installed."""

from collections.abc import Callable, Coroutine
from typing import Any, Protocol, TypeAlias

import psycopg

from minutehand.database.database import Database
from minutehand.database.executor import Executor, ExecutorSource


class SQLAlchemyTransaction(Protocol):
    """A Session or Connection of SQLAlchemy, or a scoped session."""

    @property
    def begin_nested(self) -> Callable[..., Any]:
        """Begin a savepoint."""

    def commit(self) -> None:
        """Commit."""


class DjangoConnection(Protocol):
    """`django.db.connection`, or one of `django.db.connections`."""

    @property
    def savepoint_commit(self) -> Callable[..., Any]:
        """Release a savepoint."""

    def commit(self) -> None:
        """Commit."""


class Psycopg2Connection(Protocol):
    """A connection of psycopg2."""

    @property
    def get_transaction_status(self) -> Callable[..., Any]:
        """Return the state of the transaction."""

    def commit(self) -> None:
        """Commit."""


class AsyncSQLAlchemyTransaction(Protocol):
    """An AsyncSession or AsyncConnection of SQLAlchemy, or a scoped async session."""

    @property
    def begin_nested(self) -> Callable[..., Any]:
        """Begin a savepoint."""

    def commit(self) -> Coroutine[Any, Any, None]:
        """Commit."""


class AsyncpgConnection(Protocol):
    """A connection of asyncpg, of your own or of a pool."""

    @property
    def copy_records_to_table(self) -> Callable[..., Any]:
        """Copy records."""

    def is_in_transaction(self) -> bool:
        """Whether a transaction is open."""


Connectable: TypeAlias = (
    Database | psycopg.Connection[Any] | SQLAlchemyTransaction | DjangoConnection | Psycopg2Connection
)
AsyncConnectable: TypeAlias = (
    Executor | ExecutorSource | psycopg.AsyncConnection[Any] | AsyncSQLAlchemyTransaction | AsyncpgConnection
)
