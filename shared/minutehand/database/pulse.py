"""Feel a connection's pulse: a peer that is gone, or answers nothing, is found out in seconds."""

from select import POLLIN, poll
from time import monotonic
from typing import Any

import psycopg

SECONDS = 3.0


def unasked(connection: psycopg.Connection[Any]) -> bool:
    """Whether something came in while nothing was asked: most often, that the server or the pooler hung up."""
    return _readable(connection, 0)


def answers(connection: psycopg.Connection[Any], seconds: float = SECONDS) -> bool:
    """Ask for nothing, and wait so long and no longer: a peer may take every byte and answer none."""
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
    waiting = poll()
    waiting.register(connection.pgconn.socket, POLLIN)
    return bool(waiting.poll(seconds * 1000))
