"""Maintenance: keep the table small and its scans short. Every tick and every resident worker runs it.

The steps are isolated: one that fails is logged and reported, and the others and the offers go on. Only a lost
connection ends the rest of the steps; the offers after them connect again.
"""

import logging
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from time import monotonic
from typing import TYPE_CHECKING, Literal, TypeVar

from minutehand.database import Database, Record
from minutehand.ends.abandoned import MAX_REAPED, expire, find_recurring, reap
from minutehand.errors import ReadOnlyError, UnreachableError
from minutehand.events import emit
from minutehand.events.publish import publish
from minutehand.model.failure import message_of
from minutehand.operations.retention import Step, apply_retention

if TYPE_CHECKING:
    from minutehand.schedules.fire import Fired

MAINTENANCE_SECONDS = 60.0
RAISE_EVERY = timedelta(seconds=2)
# As many as prune_rates.sql deletes at once.
MAX_PRUNED = 10_000
MAX_PRUNE_SECONDS = 2.0
# In one transaction, for which ends of jobs may wait.
MAX_CHECKS = 100
MAX_CHECK_SECONDS = 2.0

logger = logging.getLogger(__name__)
Result = TypeVar("Result")


@dataclass(frozen=True)
class MaintenanceReport:
    """What one run of maintenance did.

    `reaped` are the jobs that ended as dead because the worker of their last attempt died. `retained` lists what a
    sweep did to days whose retention is over, `fired` what the schedules did; None if that failed. `expired` is the
    number of jobs that ended because they had not started in time. `failed` names the steps that failed.
    """

    reaped: tuple[Record, ...]
    swept: bool
    retained: tuple[Step, ...] = ()
    fired: "Fired | None" = None
    expired: int = 0
    failed: tuple[str, ...] = ()

    def figures(self) -> dict[str, int]:
        """Return the figures by the names of their metrics."""
        fired = self.fired
        return {
            "dead": len(self.reaped),
            "expired": self.expired,
            "failed_steps": len(self.failed),
            "fired": fired.fired if fired else 0,
            "skipped": fired.skipped if fired else 0,
            "missed": fired.missed if fired else 0,
            "refused_schedules": len(fired.refused) if fired else 0,
        }


@dataclass
class Steps:
    """Run steps one after the other, and remember those that fail."""

    failed: list[str] = field(default_factory=list)
    unreachable: bool = False

    def run(self, name: str, step: Callable[[], Result]) -> Result | None:
        """Run a step; if it fails, for whatever reason, log that and return None."""
        if self.unreachable:
            return None
        try:
            return step()
        # A stored value may cause any error.
        except Exception as error:
            self.failed.append(name)
            self.unreachable = isinstance(error, (UnreachableError, ReadOnlyError))
            # Without the trace, whose cause may quote a row.
            logger.error("maintenance could not %s: %s: %s", name, type(error).__name__, message_of(error))
            return None


def run_maintenance(database: Database, now: datetime | None = None) -> MaintenanceReport:
    """End abandoned and expired jobs, fire schedules, update the lanes; every ten minutes, sweep as well."""
    # Imported only when used: a worker that is invited to jobs runs no maintenance.
    from minutehand.schedules.fire import fire_due

    steps = Steps()
    checks = steps.run("look for checks", lambda: database.run("has_checks")[0]) or {}
    if checks.get("predecessors"):
        steps.run("release successors", lambda: _check(database, "predecessors"))
    cancelled = steps.run("end cancelled jobs", lambda: _cancel(database, now))
    recurring = steps.run("find recurring jobs that end", lambda: find_recurring(database, now)) or []
    reaped = steps.run("end abandoned jobs", lambda: reap(database, now, recurring))
    expired = steps.run("expire jobs", lambda: expire(database, now, recurring))
    fired = steps.run("fire schedules", lambda: fire_due(database, now))
    # These ends may have left checks, too.
    if checks.get("batches") or cancelled or reaped or expired:
        steps.run("end batches", lambda: _check(database, "batches"))
    steps.run("update the lanes", lambda: _update_lanes(database, now))
    steps.run("count minutes", lambda: database.run("count_minutes", now=now))
    swept = steps.run("start a sweep", lambda: bool(database.run("start_sweep", now=now)))
    retained = _sweep(database, steps, now) if swept else None
    return MaintenanceReport(
        reaped or (), bool(swept), retained or (), fired, expired or 0, tuple(steps.failed)
    )


def _sweep(database: Database, steps: Steps, now: datetime | None) -> tuple[Step, ...] | None:
    from minutehand.schedules.fire import prune

    steps.run("derive the lanes", lambda: database.run("sweep", now=now))
    steps.run("remove empty lanes", lambda: database.run("remove_lanes", now=now))
    steps.run("create partitions", lambda: database.run("make_days"))
    steps.run("forget times", lambda: database.run("forget_times", now=now))
    steps.run("delete old history", lambda: database.run("prune_history", now=now))
    steps.run("forget unclaimed offers", lambda: database.run("prune_unclaimed", now=now))
    steps.run("free keys", lambda: database.run("free_keys", now=now))
    steps.run("delete old firings", lambda: prune(database, now))
    steps.run("delete old batches", lambda: database.run("delete_batches", now=now))
    steps.run("delete the times of rates", lambda: _prune_rates(database, now))
    steps.run("remove killed loads", lambda: database.run("end_dead_loads"))
    steps.run("forget blocks of groups", lambda: database.run("prune_groups", now=now))
    return steps.run("apply retention", lambda: apply_retention(database))


def _prune_rates(database: Database, now: datetime | None) -> None:
    """Delete the times of rates in batches: a rate per key may leave any number of them between two sweeps."""
    began, deleted = monotonic(), MAX_PRUNED
    while deleted == MAX_PRUNED and monotonic() - began < MAX_PRUNE_SECONDS:
        deleted = database.run("prune_rates", now=now)[0]["deleted"]


def _update_lanes(database: Database, now: datetime | None) -> None:
    database.run("advance_settled", now=now, pause=timedelta())
    _move_floors(database, now)


def _raise_floors(database: Database) -> None:
    """Update the lanes, unless another session did so in the last two seconds."""
    if database.run("advance_settled", now=None, pause=RAISE_EVERY):
        _move_floors(database, None)


def _move_floors(database: Database, now: datetime | None) -> None:
    (folded,) = database.run("fold_lanes")
    if folded["sweep_requested"]:
        database.run("sweep", now=now)
    database.run("raise_floor", now=now)


def _cancel(database: Database, now: datetime | None) -> int:
    """End cancelled jobs, and their successors, which are then cancelled too; return their number."""
    end, count = monotonic() + MAX_CHECK_SECONDS, 0
    while cancelled := database.run("cancel_lapsed", limit=MAX_REAPED, now=now):
        publish(database, (emit.row_event("cancelled", record) for record in cancelled))
        count += len(cancelled)
        if monotonic() > end:
            break
    return count


def _check(database: Database, what: Literal["batches", "predecessors"]) -> None:
    """Make the checks that the transactions which ended jobs have left."""
    # Imported only when used: checks are rare.
    from minutehand.database.isolation import read_committed

    began, checks = monotonic(), MAX_CHECKS
    while checks == MAX_CHECKS and monotonic() - began < MAX_CHECK_SECONDS:
        with read_committed(database):
            checks = database.run(f"check_{what}", limit=MAX_CHECKS)[0]["checks"]


@dataclass
class WorkerMaintenance:
    """The maintenance of a resident worker: in full once a minute, and of the floors every two seconds.

    A worker scans from the floor each time it takes jobs, and an old snapshot keeps all entries of taken jobs there. Of
    several workers, one raises the floors.
    """

    maintained: float = -math.inf
    raised: float = -math.inf

    @property
    def is_due(self) -> bool:
        """Whether the time of a step has come."""
        now = monotonic()
        return now - self.maintained > MAINTENANCE_SECONDS or now - self.raised > RAISE_EVERY.total_seconds()

    def run(self, database: Database) -> MaintenanceReport | None:
        """Run the steps whose time has come; return the report of a full run."""
        if monotonic() - self.maintained > MAINTENANCE_SECONDS:
            report = run_maintenance(database)
            self.maintained = self.raised = monotonic()
            return report
        if self.is_due:
            Steps().run("raise the floors", lambda: _raise_floors(database))
            self.raised = monotonic()
        return None
