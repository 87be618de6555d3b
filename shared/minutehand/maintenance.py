"""Maintenance: keep the table small and its scans short. Every tick and every resident worker runs it."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import monotonic
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
# A tick waits for it.
MAX_EXPIRE_SECONDS = 2.0

logger = logging.getLogger(__name__)
Result = TypeVar("Result")


@dataclass(frozen=True)
class MaintenanceReport:
    """What one run of maintenance did.

    `reaped` are the jobs that ended as dead because the worker of their last attempt died. `retained` lists what a
    sweep did to days whose retention is over, `fired` what the schedules did; None if the database refused.
    `expired` is the number of jobs that ended because they had not started in time.
    """

    reaped: tuple[Record, ...]
    swept: bool
    retained: tuple[Step, ...] = ()
    fired: "Fired | None" = None
    expired: int = 0


@dataclass(frozen=True)
class Health:
    """What slows a queue down.

    The age of the oldest snapshot in this database, dead rows for each live row, and open connections as a percentage
    of `max_connections`.
    """

    snapshot: timedelta
    dead_rows_per_live: int
    connections_percent: int


def run_maintenance(database: Database, now: datetime | None = None) -> MaintenanceReport:
    """End abandoned and expired jobs, fire schedules, raise the floors; every ten minutes, sweep as well."""
    # Imported only when used: a worker that is invited to jobs runs no maintenance.
    from minutehand.schedules.fire import fire_due

    cancelled = database.run("cancel_lapsed", limit=MAX_REAPED, now=now)
    publish(database, (emit.row_event("cancelled", record) for record in cancelled))
    reaped = _reap(database, now)
    publish(database, (emit.row_event("dead", record, error_type="WorkerDied") for record in reaped))
    expired = _or_next_tick("expire jobs", lambda: _expire(database, now)) or 0
    fired = _or_next_tick("fire schedules", lambda: fire_due(database, now))
    database.run("raise_floor", now=now)
    swept = bool(database.run("start_sweep", now=now))
    if swept:
        _sweep(database, now)
    return MaintenanceReport(reaped, swept, apply_retention(database) if swept else (), fired, expired)


def _sweep(database: Database, now: datetime | None) -> None:
    from minutehand.schedules.fire import prune

    database.run("sweep", now=now)
    database.run("make_days")
    _or_next_tick("free keys", lambda: database.run("free_keys", now=now))
    _or_next_tick("delete old firings", lambda: prune(database, now))


def _or_next_tick(what: str, step: Callable[[], Result]) -> Result | None:
    """Run a step. If the database refuses it, log that and leave it to the next tick, so that offers go out."""
    try:
        return step()
    except UnreachableError:
        raise
    except (DatabaseError, InvalidJobError) as error:
        logger.error("maintenance could not %s, and will try again at the next tick: %s", what, error)
        return None


def _reap(database: Database, now: datetime | None) -> tuple[Record, ...]:
    """End jobs that have no attempt left as dead."""
    return _end(database, "spent_recurring", "reap", now)


def _expire(database: Database, now: datetime | None) -> int:
    """End jobs that have expired before they started, in batches; return their number."""
    began, count = monotonic(), 0
    while monotonic() - began < MAX_EXPIRE_SECONDS:
        ended = _end(database, "expiring_recurring", "expire", now)
        publish(database, (emit.row_event("expired", record) for record in ended))
        count += len(ended)
        if len(ended) < MAX_REAPED:
            break
    return count


def _end(
    database: Database, recurring_statement: str, statement: str, now: datetime | None
) -> tuple[Record, ...]:
    """End a batch of jobs; recurring ones get their next occurrence, whose time is computed first."""
    recurring = database.run(recurring_statement, limit=MAX_REAPED, now=now)
    nexts = [next_of(each["every"], each["zone"], each["nominal"], each["now"])[0] for each in recurring]
    ids = [each["id"] for each in recurring]
    return tuple(database.run(statement, limit=MAX_REAPED, now=now, ids=ids, nexts=nexts))


def check_health(database: Database) -> Health:
    """Return the database's health. The cost does not depend on the length of the queue."""
    return Health(**database.run("health")[0])
