"""Retention: how long what is finished is kept; people say it, and upkeep drops the days whose time has come."""

import logging
from collections.abc import Iterator
from dataclasses import dataclass, fields
from datetime import date, timedelta
from time import monotonic
from typing import Any, Literal

from minutehand.database import Database
from minutehand.errors import DatabaseError
from minutehand.operations import audit

FOREVER = timedelta.max
MOST_STEPS = 50  # each drops a day, or deletes up to 5000 rows, or looks at a day
SECONDS = 1.0  # and this long at most, since a tick waits for it

logger = logging.getLogger(__name__)

What = Literal["done", "dead", "cancelled", "attempts", "events"]


@dataclass(frozen=True, kw_only=True)
class Retention:
    """How long a queue's finished jobs are kept, by how they ended, and the attempts and events of all its jobs.

    Without a queue it is that of every queue which has no word of its own. What is None follows that one, and there
    it is for ever: nothing is dropped until somebody says so. FOREVER says it of one queue.
    """

    queue: str | None = None
    done: timedelta | None = None
    dead: timedelta | None = None
    cancelled: timedelta | None = None
    attempts: timedelta | None = None
    events: timedelta | None = None


@dataclass(frozen=True)
class Step:
    """What was done to a day: `dropped`, some rows `deleted`, `looked` at, `held` for the archive, or `busy`.

    A step without a day was taken in a default partition, where the rows lie whose day has none.
    """

    home: Literal["jobs_done", "attempts", "events"]
    day: date | None
    outcome: Literal["dropped", "deleted", "looked", "held", "busy"]
    jobs: int


WHATS = tuple(field.name for field in fields(Retention) if field.name != "queue")


def list_retention(database: Database) -> list[Retention]:
    """Return what was said, that of every queue first."""
    said: dict[str, dict[str, timedelta]] = {}
    for record in database.run("retention"):
        said.setdefault(record["queue"], {})[record["what"]] = _forever(record["keep"])
    return [Retention(queue=queue or None, **kept) for queue, kept in said.items()]


def set_retention(database: Database, retention: Retention, *, who: str | None = None) -> None:
    """Say all of a queue's retention at once; what is None is forgotten. It is written to the audit trail."""
    said = {what: getattr(retention, what) for what in WHATS if getattr(retention, what) is not None}
    keeps = [None if keep == FOREVER else keep for keep in said.values()]
    with database.transaction():
        database.run("set_retention", queue=retention.queue or "", whats=list(said), keeps=keeps)
        facts: dict[str, Any] = {
            what: "forever" if keep == FOREVER else f"{keep}" for what, keep in said.items()
        }
        audit.record(database, "retention", who, queue=retention.queue, **facts)


def keeps_until_archived(database: Database) -> bool:
    """Whether nothing is dropped or deleted of a day that is not in `archived_days`."""
    return bool(database.run("keeps_until_archived")[0]["keep_until_archived"])


def keep_until_archived(database: Database, keep: bool, *, who: str | None = None) -> None:
    """Have retention wait for the archive, or not; a purge by hand does not. It is written to the audit trail."""
    with database.transaction():
        database.run("keep_until_archived", keep=keep)
        audit.record(database, "retention", who, keep_until_archived=keep)


def retain(database: Database) -> tuple[Step, ...]:
    """Drop the days whose every row's retention is over; where it is some rows', delete those, some thousand at a time.

    What it does not come to, or finds locked, the next one does. It fails no tick.
    """
    try:
        return tuple(_steps(database))
    except DatabaseError as error:
        logger.warning("retention was not carried out: %s", error)
        return ()


def _steps(database: Database) -> Iterator[Step]:
    began = monotonic()
    for _ in range(MOST_STEPS):
        taken = [Step(**record) for record in database.run("retain")]
        yield from taken
        if not taken or taken[-1].outcome == "busy" or monotonic() - began > SECONDS:
            return


def _forever(keep: timedelta | None) -> timedelta:
    return FOREVER if keep is None else keep
