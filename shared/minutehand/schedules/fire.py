"""Fire: record due moments and enqueue their jobs, in one transaction for a batch of schedules."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from minutehand.database import Database, Record
from minutehand.errors import InvalidJobError, KeyTakenError, NotFoundError
from minutehand.events.publish import publish
from minutehand.model.event import Event
from minutehand.schedules.plan import Line, Plan, plan
from minutehand.schedules.schedule import StoredSchedule
from minutehand.schedules.timing import LEAST, Timing

SCHEDULES_AT_ONCE = 100
# Approximately; the rest waits for the next tick, so that an outage does not flood the queue.
JOBS_IN_A_TICK = 1000
BATCHES_IN_A_TICK = 50
# When to retry a schedule that this code cannot read.
RETRY_UNREADABLE = timedelta(hours=1)
# Longer than the reach of catch-up.
LEDGER_DAYS = timedelta(days=90)
PRUNED_AT_ONCE = 10_000


@dataclass(frozen=True)
class Fired:
    """The results of due moments: the number of jobs enqueued, and of moments skipped or missed.

    `refused` contains schedules whose job violates a rule, or which this code cannot read, with the reason.
    """

    fired: int = 0
    skipped: int = 0
    missed: int = 0
    refused: tuple[tuple[str, str], ...] = ()

    def __add__(self, other: "Fired") -> "Fired":
        """Return the sum."""
        return Fired(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(Fired)))


@dataclass(frozen=True)
class Due:
    """A due schedule, and the plan for its moments."""

    record: Record
    timing: Timing
    plan: Plan

    @property
    def name(self) -> str:
        """The schedule's name."""
        return str(self.record["name"])

    def line(self, line: Line) -> dict[str, Any]:
        """Return a line as the statement expects it, with the additional options of the job."""
        job: dict[str, Any] = {"run_at": self.timing.run_at(self.name, line.nominal).isoformat()}
        if self.timing.overlap == "replace":
            job["key"] = schedule_key(self.name)
        return {
            "tenant": self.record["tenant"],
            "schedule": self.name,
            "nominal": line.nominal.isoformat(),
            "outcome": line.outcome,
            "count": line.count,
            "late": line.late,
            "job": job,
        }


def fire_due(database: Database, now: datetime | None = None) -> Fired:
    """Fire due schedules, by the database's clock or at `now`; several dispatchers may do so at the same time."""
    total = Fired()
    for _ in range(BATCHES_IN_A_TICK):
        if total.fired >= JOBS_IN_A_TICK:
            break
        batch = database.retry_on_conflict(lambda: _fire_batch(database, now))
        if batch is None:
            break
        fired, lines = batch
        publish(database, (_event(line) for line in lines if line["job"] is not None))
        total += fired
    return total


def enqueue_now(database: Database, stored: StoredSchedule, now: datetime) -> UUID:
    """Enqueue a schedule's job now, in addition to its moments, in the caller's transaction."""
    name = stored.schedule.name
    key = schedule_key(name) if stored.schedule.overlap == "replace" else None
    while True:
        if records := database.run("fire_now", name=name, moment=now, key=key):
            id: UUID = records[0]["job"]
            return id
        # Either the schedule was removed in the meantime, or `now` is one of its moments.
        if not database.run("get_schedule", name=name):
            raise NotFoundError(f"schedule {name!r} does not exist")
        now += LEAST


def prune(database: Database, now: datetime | None = None) -> int:
    """Delete the oldest lines of the ledger; return their number."""
    return len(database.run("prune_firings", keep=LEDGER_DAYS, limit=PRUNED_AT_ONCE, now=now))


def schedule_key(name: str) -> str:
    """Return the key of a schedule's jobs, of which only one may be pending."""
    return f"schedule/{name}"


def _fire_batch(database: Database, now: datetime | None) -> tuple[Fired, list[Record]] | None:
    with database.transaction():
        records = database.run("due_schedules", limit=SCHEDULES_AT_ONCE, now=now)
        if not records:
            return None
        planned = [(record, _plan(record)) for record in records]
        due = [each for _, each in planned if isinstance(each, Due)]
        unreadable = [(record, each) for record, each in planned if not isinstance(each, Due)]
        lines, refused = _write(database, due)
        moves = [_next_move(each, lines) for each in due] + [_retry_later(record) for record, _ in unreadable]
        database.run("advance_schedules", moves=json.dumps(moves, default=str))
    refused = tuple((record["name"], str(error)) for record, error in unreadable) + refused
    return _count(due, lines, refused), lines


def _plan(record: Record) -> Due | InvalidJobError:
    """Plan a schedule; return the error of one that this code cannot read, so that others still fire."""
    timing = Timing(**{each.name: record[each.name] for each in fields(Timing)})
    try:
        return Due(
            record, timing, plan(timing, record["every"], record["next"], record["now"], record["busy"])
        )
    except InvalidJobError as error:
        return error
    except (ValueError, OverflowError) as error:
        # For example a moment at the end of the calendar, written by SQL.
        return InvalidJobError("every_recurs", str(error))


def _write(database: Database, due: Sequence[Due]) -> tuple[list[Record], tuple[tuple[str, str], ...]]:
    """Record the lines and enqueue the jobs of all schedules, or of each one separately if a rule refuses one."""
    lines = [each.line(line) for each in due for line in each.plan.lines]
    try:
        with database.transaction():
            return database.run("fire", firings=json.dumps(lines)), ()
    except (InvalidJobError, KeyTakenError) as error:
        if len(due) > 1:
            parts = [_write(database, [each]) for each in due]
            return [line for part, _ in parts for line in part], sum((refused for _, refused in parts), ())
        lines = [line | {"outcome": "refused"} for line in lines]
        return database.run("fire", firings=json.dumps(lines)), ((due[0].name, str(error)),)


def _next_move(due: Due, lines: Sequence[Record]) -> dict[str, Any]:
    fired = [
        x for x in lines if (x["tenant"], x["schedule"]) == (due.record["tenant"], due.name) and x["job"]
    ]
    last = max(fired, key=lambda line: line["nominal"], default=None)
    move = {"next": due.plan.next, "wake": due.plan.next and due.plan.next - due.timing.ahead}
    return _identify(due.record) | move | ({"fired": last["nominal"], "last": last["job"]} if last else {})


def _retry_later(record: Record) -> dict[str, Any]:
    return _identify(record) | {"next": record["next"], "wake": record["now"] + RETRY_UNREADABLE}


def _identify(record: Record) -> dict[str, Any]:
    return {"tenant": record["tenant"], "name": record["name"]}


def _count(due: Sequence[Due], lines: Sequence[Record], refused: tuple[tuple[str, str], ...]) -> Fired:
    outcomes = {(line["tenant"], line["schedule"], line["nominal"]): line["outcome"] for line in lines}
    counts = dict.fromkeys(("fired", "skipped", "missed"), 0)
    for schedule, line in ((each, line) for each in due for line in each.plan.lines):
        outcome = outcomes.get((schedule.record["tenant"], schedule.name, line.nominal))
        if outcome in counts:
            counts[outcome] += line.count
    return Fired(**counts, refused=refused)


def _event(line: Record) -> Event:
    facts = {"schedule": line["schedule"], "nominal": line["nominal"]}
    return Event(name="fired", job=line["job"], tenant=line["tenant"], facts=facts)
