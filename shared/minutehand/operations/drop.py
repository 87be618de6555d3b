"""Drop: a queue's jobs that have not begun are deleted, for whoever says in so many words that they want that."""

from collections.abc import Iterator

from minutehand.database import Database
from minutehand.errors import InvalidJobError
from minutehand.operations import audit

DROPPED_AT_ONCE = 5000


def words(queue: str) -> str:
    """Return what has to be said to drop a queue's jobs."""
    return f"Yes, please, drop all jobs of {queue}"


def droppable(database: Database, queue: str) -> int:
    """Count the jobs of a queue that `drop_all` would delete."""
    return int(database.run("droppable", queue=queue)[0]["jobs"])


def drop_all(database: Database, queue: str, confirm: str, *, who: str | None = None) -> Iterator[int]:
    """Delete all jobs of a queue that neither run nor are finished; yield each time how many.

    `confirm` is `Yes, please, drop all jobs of <queue>`. Nothing brings them back: to stop them only, pause the
    queue; to end them and keep them in the history, cancel them.
    """
    if confirm != words(queue):
        raise InvalidJobError("drop_is_confirmed", f"to delete them for good, say: {words(queue)}")

    def some() -> int:
        with database.transaction():
            dropped = len(database.run("drop_all", queue=queue, most=DROPPED_AT_ONCE))
            if dropped:
                audit.record(database, "drop", who, queue=queue, jobs=dropped)
        return dropped

    while dropped := database.retry_on_conflict(some):
        yield dropped
