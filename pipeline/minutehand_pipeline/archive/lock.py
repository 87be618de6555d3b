"""The archivers' lock: who carries to the lake, and who erases from it, does so alone."""

from collections.abc import Iterator
from contextlib import contextmanager

from minutehand.database import Database
from minutehand_pipeline.errors import BusyError
from minutehand_pipeline.statements import run


@contextmanager
def locked(database: Database) -> Iterator[None]:
    """Be the only one; raise BusyError where there is another, and say who.

    The lock is that of a transaction without a snapshot, so that it holds no vacuum back however long it lasts. Who
    lost it, with its connection, is stopped by the number in the lake.
    """
    holder = database.clone()
    try:
        with holder.transaction():
            if not run(holder, "archive_lock")[0]["taken"]:
                raise BusyError(_holder(database))
            yield
    finally:
        holder.close()


def _holder(database: Database) -> str:
    found = run(database, "archive_locker")
    if not found:
        return "another archive was at work until a moment ago; try again"
    return (
        f"another archive is at work, process {found[0]['pid']} of the database since {found[0]['since']}; "
        "wait for it, or end it there"
    )
