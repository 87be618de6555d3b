"""Fire: what is due becomes a line of the ledger and a job, in one transaction for a batch of schedules."""

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
JOBS_IN_A_TICK = 1000  # about: the rest waits for the next tick, so that an outage never floods
BATCHES_IN_A_TICK = 50
LOOK_AGAIN = timedelta(hours=1)  # at a schedule that this code cannot read
LEDGER_DAYS = timedelta(days=90)  # longer than any catch-up reaches
PRUNED_AT_ONCE = 10_000


@dataclass(frozen=True)
class Fired:
    """What became of the moments that were due: jobs that were enqueued, and how many were skipped or missed.

    `refused` are schedules whose job no rule lets in, or which this code cannot read, with the reason.
    """

    fired: int = 0
    skipped: int = 0
    missed: int = 0
    refused: tuple[tuple[str, str], ...] = ()

    def __add__(self, other: "Fired") -> "Fired":
        """Count both."""
        return Fired(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(Fired)))


@dataclass(frozen=True)
class Due:
    """A schedule that is due, and what is to become of its moments."""

    record: Record
    timing: Timing
    plan: Plan

    @property
    def name(self) -> str:
        """The schedule's name."""
        return str(self.record["name"])

    def line(self, line: Line) -> dict[str, Any]:
        """Return a line as the statement takes it, with what the schedule's job gets beside its own."""
        job: dict[str, Any] = {"run_at": self.timing.run_at(self.name, line.nominal).isoformat()}
        if self.timing.overlap == "replace":
            job["key"] = own_key(self.name)
        return {
            "tenant": self.record["tenant"], "schedule": self.name, "nominal": line.nominal.isoformat(),
            "outcome": line.outcome, "count": line.count, "late": line.late, "job": job,
        }  # fmt: skip


def fire_due(database: Database, now: datetime | None = None) -> Fired:
    """Fire what is due, by the database's clock or at a moment; any number of dispatchers may, at once or again."""
    total = Fired()
    for _ in range(BATCHES_IN_A_TICK):
        if total.fired >= JOBS_IN_A_TICK:
            break
        batch = database.retry_on_conflict(lambda: _fire_batch(database, now))
        if batch is None:
            break
        done, lines = batch
        publish(database, (_event(line) for line in lines if line["job"] is not None))
        total += done
    return total


def ask(database: Database, stored: StoredSchedule, now: datetime) -> UUID:
    """Enqueue a schedule's job at once, beside its own moments, in the caller's transaction."""
    while True:
        line = {"tenant": stored.tenant, "schedule": stored.schedule.name, "nominal": now.isoformat()}
        own = {"key": own_key(stored.schedule.name)} if stored.schedule.overlap == "replace" else {}
        asked = line | {"outcome": "asked", "count": 1, "late": False, "job": own}
        if done := database.run("fire", firings=json.dumps([asked])):
            job: UUID = done[0]["job"]
            return job
        if not database.run("get_schedule", name=stored.schedule.name):  # it was removed meanwhile
            raise NotFoundError(f"there is no schedule {stored.schedule.name!r}")
        now += LEAST  # this moment is one of its own


def prune(database: Database, now: datetime | None = None) -> int:
    """Forget the oldest lines of the ledger; say how many."""
    return len(database.run("prune_firings", keep=LEDGER_DAYS, limit=PRUNED_AT_ONCE, now=now))


def own_key(name: str) -> str:
    """Return the key of the jobs of a schedule of which one waits at a time."""
    return f"schedule/{name}"


def _fire_batch(database: Database, now: datetime | None) -> tuple[Fired, list[Record]] | None:
    with database.transaction():
        records = database.run("due_schedules", limit=SCHEDULES_AT_ONCE, now=now)
        if not records:
            return None
        read = [(record, _planned(record)) for record in records]
        due = [each for _, each in read if isinstance(each, Due)]
        unread = [(record, each) for record, each in read if not isinstance(each, Due)]
        lines, refused = _write(database, due)
        _move_on(database, [_move(each, lines) for each in due] + [_later(record) for record, _ in unread])
    names = tuple((record["name"], str(error)) for record, error in unread) + refused
    return _count(due, lines, names), lines


def _planned(record: Record) -> Due | InvalidJobError:
    """Plan a schedule; one that this code cannot read does not hold up the others."""
    timing = Timing(**{each.name: record[each.name] for each in fields(Timing)})
    try:
        return Due(
            record, timing, plan(timing, record["every"], record["next"], record["now"], record["busy"])
        )
    except InvalidJobError as error:
        return error
    except (ValueError, OverflowError) as error:  # such as a moment at the calendar's end, by SQL
        return InvalidJobError("every_recurs", str(error))


def _write(database: Database, due: Sequence[Due]) -> tuple[list[Record], tuple[tuple[str, str], ...]]:
    """Write the lines and enqueue the jobs of all at once, or of each alone where a rule refuses one of them."""
    lines = [each.line(line) for each in due for line in each.plan.lines]
    try:
        with database.transaction():
            return database.run("fire", firings=json.dumps(lines)), ()
    except (InvalidJobError, KeyTakenError) as error:
        if len(due) > 1:
            parts = [_write(database, [each]) for each in due]
            return [line for part, _ in parts for line in part], sum((names for _, names in parts), ())
        refused = [line | {"outcome": "refused"} for line in lines]
        return database.run("fire", firings=json.dumps(refused)), ((due[0].name, str(error)),)


def _move(due: Due, lines: Sequence[Record]) -> dict[str, Any]:
    own = [x for x in lines if (x["tenant"], x["schedule"]) == (due.record["tenant"], due.name) and x["job"]]
    last = max(own, key=lambda line: line["nominal"], default=None)
    move = {"next": due.plan.next, "wake": due.plan.next and due.plan.next - due.timing.ahead}
    return _named(due.record) | move | ({"fired": last["nominal"], "last": last["job"]} if last else {})


def _later(record: Record) -> dict[str, Any]:
    return _named(record) | {"next": record["next"], "wake": record["now"] + LOOK_AGAIN}


def _named(record: Record) -> dict[str, Any]:
    return {"tenant": record["tenant"], "name": record["name"]}


def _move_on(database: Database, moves: Sequence[dict[str, Any]]) -> None:
    database.run("advance_schedules", moves=json.dumps(moves, default=str))


def _count(due: Sequence[Due], lines: Sequence[Record], refused: tuple[tuple[str, str], ...]) -> Fired:
    won = {(line["tenant"], line["schedule"], line["nominal"]): line["outcome"] for line in lines}
    told = [(each, line) for each in due for line in each.plan.lines]
    counts = dict.fromkeys(("fired", "skipped", "missed"), 0)
    for each, line in told:
        outcome = won.get((each.record["tenant"], each.name, line.nominal))
        if outcome in counts:
            counts[outcome] += line.count
    return Fired(**counts, refused=refused)


def _event(line: Record) -> Event:
    facts = {"schedule": line["schedule"], "nominal": line["nominal"]}
    return Event(name="fired", job=line["job"], tenant=line["tenant"], facts=facts)
