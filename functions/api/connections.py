"""Connections: a request has a database of its own while it lasts; in Lambda it is always the same one."""

from collections.abc import Iterator
from queue import LifoQueue
from typing import Annotated

from fastapi import Depends

from minutehand import Database
from minutehand.settings import database_url

MOST = 8
_idle: LifoQueue[Database] = LifoQueue()
for _ in range(MOST):
    _idle.put(Database(database_url))


def connect() -> Iterator[Database]:
    """Lend the database that was used last, whose connection is the likeliest to be open."""
    database = _idle.get()
    try:
        yield database
    finally:
        _idle.put(database)


Connected = Annotated[Database, Depends(connect)]
