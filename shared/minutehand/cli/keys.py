"""Jobs by their key, and the queue to name if the given one has no such job."""

from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from minutehand.database import Database
from minutehand.errors import ForbiddenError, NotFoundError
from minutehand.queries.jobs import get_by_key, list_queues

Found = TypeVar("Found")

# Each costs a query.
MOST_QUEUES = 100


def by_key(database: Database, queue: str, key: str, find: Callable[[], Found]) -> Found:
    """Return what is found for a key; the error, if a queue has no job with it, names the queue that has one."""
    try:
        return find()
    except NotFoundError as missing:
        others = _queues_with(database, key)
        hint = f" ({others[0]} has one)" if len(others) == 1 else ""
        raise NotFoundError(f"{missing}; name its queue with --queue{hint}") from None


def _queues_with(database: Database, key: str) -> list[str]:
    """Return the queues that have a job with a key, as far as the caller may see them; none if there are too many."""
    with suppress(ForbiddenError):
        queues = list_queues(database, limit=MOST_QUEUES + 1)
        return [queue for queue in queues if _has(database, queue, key)] if len(queues) <= MOST_QUEUES else []
    return []


def _has(database: Database, queue: str, key: str) -> bool:
    with suppress(NotFoundError):
        get_by_key(database, queue, key)
        return True
    return False
