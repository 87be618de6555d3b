"""Liveness: find out within seconds whether the peer of a connection is gone or hangs."""

from select import POLLIN, poll
from time import monotonic
from typing import Any

import psycopg

SECONDS = 3.0


def has_pending_input(connection: psycopg.Connection[Any]) -> bool:
    """Return whether input arrived while no query ran. Usually this means that the server or pooler hung up."""
    return _readable(connection, 0)


def responds(connection: psycopg.Connection[Any], seconds: float = SECONDS) -> bool:
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


def _readable(connection: psycopg.Connection[Any], seconds: float) -> bool:
    poller = poll()
    poller.register(connection.pgconn.socket, POLLIN)
    return bool(poller.poll(seconds * 1000))
