"""MaintenanceReport: what keeps the queue's table small and its scans short, done by every tick and every resident worker."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, TypeVar

from minutehand.database import Database, Record
from minutehand.errors import DatabaseError, InvalidJobError, UnreachableError
from minutehand.events import emit
from minutehand.events.publish import publish
from minutehand.model.occurrence import next_of
from minutehand.operations.retention import Step, apply_retention

if TYPE_CHECKING:
    from minutehand.schedules.fire import Fired

MAX_REAPED = 1000

logger = logging.getLogger(__name__)
Result = TypeVar("Result")


@dataclass(frozen=True)
class MaintenanceReport:
    """The jobs that ended as dead because their last worker never came back, and whether a sweep was made.

    With a sweep, `retained` is what was done to days whose retention was over. `fired` is what schedules did.
    """

    buried: tuple[Record, ...]
    swept: bool
    retained: tuple[Step, ...] = ()
    fired: "Fired | None" = None


@dataclass(frozen=True)
class Health:
    """What slows a queue down before anybody notices.

    The age of the oldest snapshot in this database, the dead rows for each live one, and of a hundred connections
    that the server allows, how many are open.
    """

    snapshot: timedelta
    dead_rows_per_live: int
    connections_percent: int


def run_maintenance(database: Database, now: datetime | None = None) -> MaintenanceReport:
    """End what was to end; bury what has no attempt left; raise the floors.

    Every ten minutes sweep, make the days ahead and drop the old.
    """
    from minutehand.schedules.fire import fire_due, prune  # here: who is invited to jobs keeps nothing up

    cancelled = database.run("cancel_lapsed", most=MAX_REAPED, now=now)
    publish(database, (emit.row_event("cancelled", record) for record in cancelled))
    buried = _bury(database, now)
    publish(database, (emit.row_event("dead", record, error_type="WorkerDied") for record in buried))
    fired = _or_later("schedules fire", lambda: fire_due(database, now))
    database.run("raise_floor", now=now)
    swept = bool(database.run("start_sweep", now=now))
    if swept:
        database.run("sweep", now=now)
        database.run("make_days")
        _or_later("keys are freed", lambda: database.run("free_keys", now=now))
        _or_later("old firings are forgotten", lambda: prune(database, now))
    return MaintenanceReport(buried, swept, apply_retention(database) if swept else (), fired)


def _or_later(what: str, part: Callable[[], Result]) -> Result | None:
    """Do a part of the upkeep; where the database refuses, say so and leave it to the next tick: offers go out."""
    try:
        return part()
    except UnreachableError:
        raise
    except (DatabaseError, InvalidJobError) as error:
        logger.error("before %s, another tick is needed: %s", what, error)
        return None


def _bury(database: Database, now: datetime | None) -> tuple[Record, ...]:
    """Bury what has no attempt left, and have the next occurrence of what recurs born with it."""
    spent = database.run("spent_recurring", most=MAX_REAPED, now=now)
    nexts = [next_of(each["every"], each["zone"], each["nominal"], each["now"])[0] for each in spent]
    ids = [each["id"] for each in spent]
    return tuple(database.run("reap", most=MAX_REAPED, now=now, ids=ids, nexts=nexts))


def look(database: Database) -> Health:
    """Return how the database is; it costs the same however long the queue is."""
    return Health(**database.run("health")[0])
