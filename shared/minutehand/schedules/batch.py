"""Batch: fire some due schedules in one transaction.

No schedule stops another: one that cannot be read, planned, recorded or advanced is set aside for an hour, with its
error.
"""

import json
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from time import monotonic
from typing import Any

from minutehand.database import Database, Record
from minutehand.database.lock_wait import LEAST_MILLISECONDS, LeftError, LockWait, is_left
from minutehand.model.failure import TYPE_CHARACTERS, message_of
from minutehand.schedules.isolation import run_isolated
from minutehand.schedules.plan import Line, Plan, plan
from minutehand.schedules.timing import Timing

RETRY_SET_ASIDE = timedelta(hours=1)

logger = logging.getLogger(__name__)
Identity = tuple[str, str]
Faults = dict[Identity, Exception]


@dataclass(frozen=True)
class DueSchedule:
    """The tenant and name of a due schedule, and how many lines it may write in this tick."""

    identity: Identity
    lines: int


@dataclass(frozen=True)
class PlannedSchedule:
    """A due schedule, the plan for its occurrences, and when the dispatcher handles its next one."""

    record: Record
    timing: Timing
    plan: Plan
    wake: datetime | None

    @property
    def identity(self) -> Identity:
        """The schedule's tenant and name."""
        return identity(self.record)

    def line(self, line: Line, *, refused: bool) -> dict[str, Any]:
        """Return a line as the statement expects it, with the additional options of the job."""
        tenant, name = self.identity
        job: dict[str, Any] = {"run_at": self.timing.run_at(name, line.nominal).isoformat()}
        if self.timing.overlap == "replace":
            job["key"] = schedule_key(name)
        return {
            "tenant": tenant,
            "schedule": name,
            "nominal": line.nominal.isoformat(),
            "outcome": "refused" if refused else line.outcome,
            "count": line.count,
            "late": line.late,
            "job": job,
        }


@dataclass(frozen=True)
class Batch:
    """The schedules that were planned, the lines that were written, and the errors of refused ones."""

    due: Sequence[PlannedSchedule]
    lines: Sequence[Record]
    errors: Faults


def fire_batch(
    database: Database, schedules: Sequence[DueSchedule], now: datetime, end: float, lock_wait: LockWait
) -> Batch:
    """Fire those of the schedules that are still due; the rest are left when the monotonic second `end` is over.

    Those whose key an open transaction keeps are left to the next tick, which fires them after the others.
    """
    with database.transaction():
        records, unread = run_isolated(database, schedules, lambda some: _read(database, some, now))
        due, unplanned = _plan_all(records, {each.identity: each.lines for each in schedules}, now, end)
        lines, failed = run_isolated(
            database,
            due,
            lambda some: lock_wait.run(lambda milliseconds: _write(database, some, milliseconds)),
        )
        left = {each.identity: error for each, error in failed if is_left(error)}
        refused = [(each, error) for each, error in failed if each.identity not in left]
        # Only the ledger has lines of a refused job.
        more, unwritten = run_isolated(
            database,
            [each for each, _ in refused],
            lambda some: _write(database, some, LEAST_MILLISECONDS, refused=True),
        )
        errors = {each.identity: error for each, error in refused}
        _, unmoved = run_isolated(
            database,
            [
                *(
                    _move(each, lines, errors.get(each.identity), now)
                    for each in due
                    if each.identity not in left
                ),
                *(_postpone(each, now) for each in due if _was_tried(left.get(each.identity))),
            ],
            lambda some: database.run("advance_schedules", moves=json.dumps(some, default=str)),
        )
        aside = {each.identity: error for each, error in unread} | unplanned
        aside |= {each.identity: error for each, error in unwritten}
        aside |= {identity(move): error for move, error in unmoved}
        _set_aside(database, aside, now)
    return Batch(due, [*lines, *more], errors | aside)


def schedule_key(name: str) -> str:
    """Return the key of a schedule's jobs, of which only one may be pending."""
    return f"schedule/{name}"


def identity(record: Record) -> Identity:
    """Return the tenant and the name in a record."""
    return record["tenant"], record["name"]


def _read(database: Database, schedules: Sequence[DueSchedule], now: datetime) -> list[Record]:
    tenants, names = zip(*(each.identity for each in schedules), strict=True)
    return database.run("read_due_schedules", tenants=list(tenants), names=list(names), now=now)


def _plan_all(
    records: Iterable[Record], lines: dict[Identity, int], now: datetime, end: float
) -> tuple[list[PlannedSchedule], Faults]:
    due: list[PlannedSchedule] = []
    faults: Faults = {}
    for record in records:
        try:
            due.append(_plan(record, now, lines[identity(record)]))
        # Any error: the recurrence may have been written by SQL.
        except Exception as error:
            faults[identity(record)] = error
        if monotonic() > end:
            break
    return due, faults


def _plan(record: Record, now: datetime, lines: int) -> PlannedSchedule:
    timing = Timing(**{each.name: record[each.name] for each in fields(Timing)})
    planned = plan(timing, record["every"], record["next"], now, record["busy"], lines)
    return PlannedSchedule(record, timing, planned, planned.next and planned.next - timing.ahead)


def _write(
    database: Database, due: Sequence[PlannedSchedule], lock_wait: int, *, refused: bool = False
) -> list[Record]:
    """Record the lines and enqueue the jobs; with `refused`, only record that there are none."""
    lines = [each.line(line, refused=refused) for each in due for line in each.plan.lines]
    return database.run("fire", firings=json.dumps(lines), lock_wait=lock_wait)


def _move(
    due: PlannedSchedule, lines: Iterable[Record], error: Exception | None, now: datetime
) -> dict[str, Any]:
    tenant, name = due.identity
    own = (line for line in lines if (line["tenant"], line["schedule"]) == due.identity and line["job"])
    last = max(own, key=lambda line: line["nominal"], default=None)
    move: dict[str, Any] = {"tenant": tenant, "name": name, "next": due.plan.next, "wake": due.wake}
    move |= {"error": _describe(error, now)} if error else {}
    return move | ({"fired": last["nominal"], "last": last["job"]} if last else {})


def _was_tried(error: Exception | None) -> bool:
    return error is not None and not isinstance(error, LeftError)


def _postpone(due: PlannedSchedule, now: datetime) -> dict[str, Any]:
    """Let the next tick try again, after the schedules that have been due for longer."""
    tenant, name = due.identity
    return {"tenant": tenant, "name": name, "next": due.record["next"], "wake": now}


def _set_aside(database: Database, faults: Faults, now: datetime) -> None:
    for (tenant, name), error in faults.items():
        logger.error("schedule %s of tenant %r is set aside for an hour: %s", name, tenant, message_of(error))
    if faults:
        errors = [
            {"tenant": tenant, "name": name, "error": _describe(error, now)}
            for (tenant, name), error in faults.items()
        ]
        database.run("set_schedules_aside", errors=json.dumps(errors), now=now, retry=RETRY_SET_ASIDE)


def _describe(error: Exception, now: datetime) -> dict[str, str]:
    return {
        "type": type(error).__name__[:TYPE_CHARACTERS],
        "message": message_of(error),
        "at": now.isoformat(),
    }
