"""Fire: record due occurrences and enqueue their jobs.

A tick is bounded in time and in lines of the ledger, fairly across tenants; the next tick continues. What plans and
enqueues is imported when a schedule is due.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from time import monotonic
from typing import TYPE_CHECKING
from uuid import UUID

from minutehand.database import Database, Record
from minutehand.database.lock_wait import LockWait
from minutehand.errors import NotFoundError
from minutehand.events.publish import publish
from minutehand.model.event import Event

if TYPE_CHECKING:
    from minutehand.schedules.batch import Batch, DueSchedule
    from minutehand.schedules.schedule import StoredSchedule

SCHEDULES_AT_ONCE = 100
# The approximate maximum of a tick; the rest waits for the next one.
SCHEDULES_IN_A_TICK = 5000
LINES_IN_A_TICK = 5000
SECONDS_IN_A_TICK = 10.0
# Longer than the reach of catch-up.
LEDGER_DAYS = timedelta(days=90)
# As many lines as the ticks between two sweeps can write.
PRUNED_AT_ONCE = 50_000


@dataclass(frozen=True)
class Fired:
    """The results of due occurrences: the number of jobs enqueued, and of occurrences skipped or missed.

    `refused` contains schedules whose job violates a rule, or which this code cannot read, with the reason.
    """

    fired: int = 0
    skipped: int = 0
    missed: int = 0
    refused: tuple[tuple[str, str], ...] = ()

    def __add__(self, other: Fired) -> Fired:
        """Return the sum."""
        return Fired(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(Fired)))


def fire_due(database: Database, now: datetime | None = None) -> Fired:
    """Fire due schedules, by the database's clock or at `now`; several dispatchers may do so at the same time."""
    end = monotonic() + SECONDS_IN_A_TICK
    records = database.run("due_schedules", limit=SCHEDULES_IN_A_TICK, now=now)
    if not records:
        return Fired()
    from minutehand.schedules.batch import fire_batch

    due, total, lock_wait = _share_lines(records), Fired(), LockWait()
    for start in range(0, len(due), SCHEDULES_AT_ONCE):
        if monotonic() > end:
            break
        some, moment = due[start : start + SCHEDULES_AT_ONCE], records[0]["now"]
        batch = database.retry_on_conflict(
            lambda some=some, moment=moment: fire_batch(database, some, moment, end, lock_wait)  # type: ignore[misc]
        )
        publish(database, (_event(line) for line in batch.lines if line["job"] is not None))
        total += _count(batch)
    return total


def enqueue_now(database: Database, stored: StoredSchedule, now: datetime) -> UUID:
    """Enqueue a schedule's job now, in addition to its occurrences, in the caller's transaction."""
    from minutehand.schedules.batch import schedule_key
    from minutehand.schedules.timing import LEAST

    name = stored.schedule.name
    key = schedule_key(name) if stored.schedule.overlap == "replace" else None
    while True:
        if records := database.run("fire_now", name=name, moment=now, key=key):
            id: UUID = records[0]["job"]
            return id
        # Either the schedule was removed in the meantime, or `now` is one of its occurrences.
        if not database.run("get_schedule", name=name):
            raise NotFoundError(f"schedule {name!r} does not exist")
        now += LEAST


def prune(database: Database, now: datetime | None = None) -> int:
    """Delete the oldest lines of the ledger; return their number."""
    return len(database.run("prune_firings", keep=LEDGER_DAYS, limit=PRUNED_AT_ONCE, now=now))


def _share_lines(records: Sequence[Record]) -> list[DueSchedule]:
    """Give each tenant an equal share of the lines, and each of its schedules an equal share of that."""
    from minutehand.schedules.batch import DueSchedule, identity
    from minutehand.schedules.plan import AT_ONCE

    counts = Counter(record["tenant"] for record in records)
    lines = {tenant: LINES_IN_A_TICK // len(counts) // count for tenant, count in counts.items()}
    return [
        DueSchedule(identity(record), min(max(1, lines[record["tenant"]]), AT_ONCE)) for record in records
    ]


def _count(batch: Batch) -> Fired:
    outcomes = {(line["tenant"], line["schedule"], line["nominal"]): line["outcome"] for line in batch.lines}
    counts = dict.fromkeys(("fired", "skipped", "missed"), 0)
    for schedule, line in ((each, line) for each in batch.due for line in each.plan.lines):
        outcome = outcomes.get((*schedule.identity, line.nominal))
        if outcome in counts:
            counts[outcome] += line.count
    return Fired(**counts, refused=tuple((name, str(error)) for (_, name), error in batch.errors.items()))


def _event(line: Record) -> Event:
    facts = {"schedule": line["schedule"], "nominal": line["nominal"]}
    return Event(name="fired", job=line["job"], tenant=line["tenant"], facts=facts)
