"""Liveness: find out within seconds whether the peer of a connection is gone or hangs."""

from select import POLLIN, poll
from time import monotonic, time
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus

from minutehand.errors import ReadOnlyError, UnreachableError

AnyConnection = psycopg.Connection[Any] | psycopg.AsyncConnection[Any]

READ_ONLY = (ReadOnlyError, psycopg.errors.ReadOnlySqlTransaction)
SECONDS = 3.0
IDLE_SECONDS = 30.0


def is_dead(connection: psycopg.Connection[Any], used: float) -> bool:
    """Return whether a connection is closed, or may have died and does not respond. None is tested in a transaction."""
    if connection.closed:
        return True
    if connection.pgconn.transaction_status != TransactionStatus.IDLE or not is_suspect(connection, used):
        return False
    return not responds(connection)


def must_be_replaced(connection: psycopg.Connection[Any], error: Exception) -> bool:
    """Return whether a connection must be replaced after an error: it broke, or its server accepts no writes.

    After a failover, another server does. An open transaction has to end first. The error of a handler's own statement
    is the driver's.
    """
    if isinstance(error, READ_ONLY):
        return connection.pgconn.transaction_status == TransactionStatus.IDLE
    return isinstance(error, UnreachableError)


def is_suspect(connection: AnyConnection, used: float) -> bool:
    """Return whether a connection may have died: it was idle for long, or has unexpected input.

    Idle time is measured by the wall clock, since the monotonic one may stop while the process is frozen.
    """
    return not 0 <= time() - used < IDLE_SECONDS or has_pending_input(connection)


def has_pending_input(connection: AnyConnection) -> bool:
    """Return whether input arrived while no query ran. Usually this means that the server or pooler hung up."""
    return _readable(connection, 0)


def responds(connection: AnyConnection, seconds: float = SECONDS) -> bool:
    """Run an empty query, and return whether it finished in time; a peer may accept every byte and never answer."""
    deadline, line = monotonic() + seconds, connection.pgconn
    try:
        line.send_query(b"select 1")
        while line.flush():
            pass
        while True:
            while line.is_busy():
                if not _readable(connection, max(0, deadline - monotonic())):
                    return False
                line.consume_input()
            if (result := line.get_result()) is None:
                return True
            if result.status != psycopg.pq.ExecStatus.TUPLES_OK:
                return False
    except psycopg.Error:
        return False


def _readable(connection: AnyConnection, seconds: float) -> bool:
    poller = poll()
    poller.register(connection.pgconn.socket, POLLIN)
    return bool(poller.poll(seconds * 1000))
