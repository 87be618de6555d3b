"""Pipelining: send statements before the results of earlier ones have arrived."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from minutehand.database.opening import Connection


@contextmanager
def pipelined(connection: Connection) -> Iterator[None]:
    """Open a pipeline, and raise the first error of the block or of its statements.

    The driver would log each later error with its context, which may contain private values.
    """
    found: list[Exception] = []
    try:
        with connection.pipeline():
            try:
                yield
            except Exception as error:
                found.append(error)
    except psycopg.Error as error:
        found.append(error)
    if found:
        raise found[0]
