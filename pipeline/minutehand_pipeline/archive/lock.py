"""The archive lock. Archiving and erasing hold it, so that only one of them runs at a time."""

from collections.abc import Iterator
from contextlib import contextmanager

from minutehand.database import Database
from minutehand_pipeline.errors import BusyError
from minutehand_pipeline.statements import run_statement


@contextmanager
def archive_lock(database: Database) -> Iterator[None]:
    """Hold the lock. Raises BusyError, naming the holder, if another process has it.

    The lock belongs to a transaction without a snapshot, so it does not hold back vacuum. A process that loses its
    connection loses the lock; the batch number in the lake then stops its commit.
    """
    holder = database.clone()
    try:
        with holder.transaction():
            if not run_statement(holder, "archive_lock")[0]["taken"]:
                raise BusyError(_busy_message(database))
            yield
    finally:
        holder.close()


def _busy_message(database: Database) -> str:
    found = run_statement(database, "archive_locker")
    if not found:
        return "another archive was running until a moment ago; try again"
    return (
        f"another archive is running: database process {found[0]['pid']}, since {found[0]['since']}; "
        "wait for it or terminate it"
    )
