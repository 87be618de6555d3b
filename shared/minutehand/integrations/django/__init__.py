"""Django: connections, and an app with a read-only list of jobs in the admin and the command `manage.py minutehand`.

Pass `django.db.connection`, or one of `django.db.connections`. The app is `"minutehand.integrations.django"` in
INSTALLED_APPS.
"""

from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.utils.connection import ConnectionProxy

from minutehand.database import Database
from minutehand.database.after_commit import Call
from minutehand.database.callers import resolve
from minutehand.database.completing import complete
from minutehand.errors import ConnectionTypeError


def adapt(connection: Any) -> Database:
    """Return the database of a connection. Calls after the commit run by `transaction.on_commit`."""
    if isinstance(connection, ConnectionProxy):
        connection = connection._connections[connection._alias]
    if not isinstance(connection, BaseDatabaseWrapper) or connection.vendor != "postgresql":
        raise ConnectionTypeError(type(connection), "pass django.db.connection of a PostgreSQL database")
    connection.validate_no_broken_transaction()
    connection.ensure_connection()
    database = resolve(connection.connection)
    assert isinstance(database, Database)
    if connection.in_atomic_block:

        def on_commit(call: Call) -> None:
            connection.on_commit(lambda: complete(call()))

        database.on_commit = on_commit
    return database
