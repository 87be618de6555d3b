"""Isolation: a transaction that sees what others commit."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from minutehand.database.database import Database


@contextmanager
def read_committed(database: Database) -> Iterator[None]:
    """Open a transaction in which each statement sees what others have committed, whatever the server's default is."""
    connection = database.connection
    default = connection.isolation_level
    connection.isolation_level = psycopg.IsolationLevel.READ_COMMITTED
    try:
        with database.transaction():
            yield
    finally:
        if not connection.closed:
            connection.isolation_level = default
