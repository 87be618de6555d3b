"""Manage: what people do to schedules: put, pause, resume, run now, remove; and what they look at."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from minutehand.database import Database
from minutehand.enqueue import enqueue
from minutehand.errors import InvalidJobError, KeyTakenError, NotFoundError
from minutehand.model.new_job import check_moment
from minutehand.model.recurrence import REBOOT
from minutehand.schedules.plan import Outcome
from minutehand.schedules.schedule import Schedule, StoredSchedule, check
from minutehand.schedules.template import encode_secret

MAX_LISTED = 1000


@dataclass(frozen=True)
class Firing:
    """A line of the ledger: what became of a moment, or of `count` moments that were missed, and the job."""

    nominal: datetime
    fired: datetime
    outcome: Outcome
    count: int
    job: UUID | None


class _Undo(Exception):
    """What was tried goes well, and is taken back."""


def put(
    database: Database, schedule: Schedule, *, who: str | None = None, now: datetime | None = None
) -> StoredSchedule:
    """Write a schedule; one of that name is changed. Raises InvalidJobError for what cannot be one.

    Its next moment is computed anew where its timing is another, and stays where only its job is.
    """
    check(schedule)
    with database.transaction():
        stored = write(database, schedule, now or clock(database))
        _record(database, "put", who, schedule.name, every=schedule.every, zone=schedule.zone)
    return stored


def write(
    database: Database, schedule: Schedule, now: datetime, *, source: str | None = None, hash: str | None = None
) -> StoredSchedule:  # fmt: skip
    """Write a schedule that was checked, in the caller's transaction, and try whether its job would be let in."""
    _try_out(database, schedule)
    found = database.run("get_schedule", name=schedule.name)
    before = StoredSchedule.from_record(found[0]) if found else None
    same = before is not None and _times(before.schedule) == _times(schedule)
    if before is not None:
        database.run("withdraw_ahead", name=schedule.name, now=now)
    keeps = same and not schedule.ahead and schedule.every != REBOOT
    following = before.next if before and keeps else first_after(schedule, now)
    timing = vars(schedule.timing) | {"every": schedule.every, "name": schedule.name}
    record = database.run(
        "save_schedule", **timing, source=source, hash=hash, next=following,
        wake=following and following - schedule.ahead,
        job=encode_secret(schedule.job, schedule.name, getattr(database, "tenant", "")),
    )  # fmt: skip
    return StoredSchedule.from_record(record[0])


def first_after(schedule: Schedule, now: datetime) -> datetime | None:
    """Return the next moment; `@reboot` comes at once."""
    return now if schedule.every == REBOOT else schedule.timing.after(schedule.every, now)


def pause(
    database: Database, name: str, *, who: str | None = None, now: datetime | None = None
) -> StoredSchedule:
    """Fire no more until `resume`; what was enqueued ahead of its moment is taken back."""
    return _turn(database, name, True, who, now)


def resume(
    database: Database, name: str, *, who: str | None = None, now: datetime | None = None
) -> StoredSchedule:
    """Go on with the moment that is next by now: what a pause left out is not caught up with."""
    return _turn(database, name, False, who, now)


def _turn(
    database: Database, name: str, paused: bool, who: str | None, now: datetime | None
) -> StoredSchedule:
    with database.transaction():
        before, now = get(database, name), now or clock(database)
        if before.paused == paused:
            return before
        following = before.next if paused else _next_by_now(before, now)
        if paused:
            database.run("withdraw_ahead", name=name, now=now)
        wake = following and following - before.schedule.ahead
        records = database.run("pause_schedule", name=name, paused=paused, next=following, wake=wake)
        _record(database, "pause" if paused else "resume", who, name)
    return StoredSchedule.from_record(records[0])


def _next_by_now(stored: StoredSchedule, now: datetime) -> datetime | None:
    if stored.schedule.every == REBOOT:
        return stored.next
    return first_after(stored.schedule, now)


def run_now(database: Database, name: str, *, who: str | None = None, now: datetime | None = None) -> UUID:
    """Enqueue the job at once, beside the schedule's own moments; return its id."""
    from minutehand.schedules.fire import ask

    with database.transaction():
        stored = get(database, name)
        job = ask(database, stored, now or clock(database))
        _record(database, "run", who, name, job=job)
    return job


def remove(database: Database, name: str, *, who: str | None = None, now: datetime | None = None) -> None:
    """Remove a schedule; its jobs stay, but for those that were enqueued ahead of their moment."""
    with database.transaction():
        drop(database, name, now or clock(database))
        _record(database, "remove", who, name)


def drop(database: Database, name: str, now: datetime) -> None:
    """Remove a schedule in the caller's transaction."""
    database.run("withdraw_ahead", name=name, now=now)
    if not database.run("remove_schedule", name=name):
        raise NotFoundError(f"there is no schedule {name!r}")


def get(database: Database, name: str) -> StoredSchedule:
    """Return a schedule as it stands; raise NotFoundError if there is none."""
    found = database.run("get_schedule", name=name)
    if not found:
        raise NotFoundError(f"there is no schedule {name!r}")
    return StoredSchedule.from_record(found[0])


def list_schedules(database: Database, source: str | None = None) -> list[StoredSchedule]:
    """Return all schedules by name, or those that one code declares."""
    return [
        StoredSchedule.from_record(record)
        for record in database.run("list_schedules", source=source, own=False)
    ]


def firings(database: Database, name: str, *, most: int = 50, before: datetime | None = None) -> list[Firing]:
    """Return what became of a schedule's moments, the last first; go on with `before`."""
    if not 1 <= most <= MAX_LISTED:
        raise InvalidJobError("page_is_bounded", f"a page has 1 to {MAX_LISTED} firings")
    check_moment(before)
    return [Firing(**record) for record in database.run("list_firings", name=name, most=most, before=before)]


def clock(database: Database) -> datetime:
    """Return the moment by the database's clock."""
    moment: datetime = database.run("clock")[0]["now"]
    return moment


def _try_out(database: Database, schedule: Schedule) -> None:
    """Enqueue the job and take it back: what no rule lets in is refused now, and not at its moment."""
    said = {name: value for name, value in vars(schedule.job).items() if value is not None}
    with suppress(_Undo, KeyTakenError), database.transaction():
        enqueue(**said, connection=database)
        raise _Undo


def _times(schedule: Schedule) -> tuple[Any, ...]:
    return schedule.every, schedule.timing.zone, schedule.starts, schedule.ends, schedule.ahead


def _record(
    database: Database, verb: str, who: str | None, name: str, job: UUID | None = None, **facts: Any
) -> None:
    from minutehand.operations.audit import record

    record(database, f"schedule {verb}", who, job, schedule=name, **facts)
