"""Conflicts: repeat the work of one transaction after a serialization failure.

Postgres raises one when a row that a statement waited for has moved to another partition; the next run finds it there.
In a caller's transaction the error passes through, since the whole transaction has to run again.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Protocol

from minutehand.errors import ConflictError

RETRIES = 20


class Transactional(Protocol):
    """What statements run on."""

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""


def attempts(database: Transactional) -> Iterator[AbstractContextManager[None]]:
    """Yield a context for each attempt at the work. It suppresses a conflict if the work may run again.

    Return from within the context: `for attempt in attempts(database): with attempt: return work()`.
    """
    for _ in range(RETRIES):
        yield _suppressed_outside_transactions(database)
    yield nullcontext()


@contextmanager
def _suppressed_outside_transactions(database: Transactional) -> Iterator[None]:
    try:
        yield
    except ConflictError:
        if database.in_transaction:
            raise
