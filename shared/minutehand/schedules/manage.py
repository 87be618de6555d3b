"""Manage: save, pause, resume, run, delete and list schedules."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from minutehand.database import Database
from minutehand.enqueue import enqueue
from minutehand.errors import InvalidJobError, KeyTakenError, NotFoundError
from minutehand.model.new_job import check_time
from minutehand.model.recurrence import REBOOT
from minutehand.schedules.plan import Outcome
from minutehand.schedules.schedule import Schedule, StoredSchedule, check
from minutehand.schedules.template import encode_secret
from minutehand.waking.sleep import NOW, request, trial

MAX_LISTED = 1000


@dataclass(frozen=True)
class Firing:
    """A line of the ledger: the outcome of an occurrence, or of `count` missed occurrences, and the job."""

    nominal: datetime
    fired: datetime
    outcome: Outcome
    count: int
    job: UUID | None


class _Undo(Exception):
    """Roll back a trial that succeeded."""


def save(
    database: Database, schedule: Schedule, *, actor: str | None = None, now: datetime | None = None
) -> StoredSchedule:
    """Create a schedule, or change the one of that name.

    The next occurrence is computed again if the timing changes, and kept if only the job changes. Raises
    InvalidJobError if the schedule is invalid, or if the existing one was installed from code.
    """
    check(schedule)
    with database.transaction():
        # An installation must not write the schedule meanwhile.
        database.run("lock_installation")
        _refuse_installed(database, schedule.name)
        stored = write(database, schedule, now or clock(database))
        note(database, "put", actor, schedule.name, every=schedule.recurrence, zone=schedule.zone)
    return stored


def _refuse_installed(database: Database, name: str) -> None:
    """Raise InvalidJobError if a schedule was installed from code, which would not be installed any more."""
    found = database.run("get_schedule", name=name)
    if found and (source := found[0]["source"]) is not None:
        raise InvalidJobError(
            "schedule_is_own",
            f"schedule {name!r} was installed from code, by {source!r}; change it there, choose another name, or "
            "delete it first",
        )


def write(
    database: Database,
    schedule: Schedule,
    now: datetime,
    *,
    source: str | None = None,
    hash: str | None = None,
) -> StoredSchedule:
    """Write a checked schedule in the caller's transaction, after a trial that its job can be enqueued."""
    _try_enqueue(database, schedule)
    found = database.run("get_schedule", name=schedule.name)
    before = StoredSchedule.from_record(found[0]) if found else None
    unchanged = before is not None and _times(before.schedule) == _times(schedule)
    if before is not None:
        database.run("withdraw_ahead", name=schedule.name, now=now)
    keeps_next = unchanged and not schedule.ahead and schedule.recurrence != REBOOT
    following = before.next if before and keeps_next else first_after(schedule, now)
    timing = vars(schedule.timing) | {"every": schedule.recurrence, "name": schedule.name}
    record = database.run(
        "save_schedule",
        **timing,
        source=source,
        hash=hash,
        next=following,
        wake=following and following - schedule.ahead,
        job=encode_secret(schedule.job, schedule.name, getattr(database, "tenant", "")),
    )
    request(database, [following and following - schedule.ahead])
    return StoredSchedule.from_record(record[0])


def first_after(schedule: Schedule, now: datetime) -> datetime | None:
    """Return the next occurrence; `@reboot` fires immediately."""
    return now if schedule.recurrence == REBOOT else schedule.timing.after(schedule.recurrence, now)


def pause(
    database: Database, name: str, *, actor: str | None = None, now: datetime | None = None
) -> StoredSchedule:
    """Stop firing until `resume`; jobs that were enqueued ahead of their occurrence are withdrawn."""
    return _set_paused(database, name, True, actor, now)


def resume(
    database: Database, name: str, *, actor: str | None = None, now: datetime | None = None
) -> StoredSchedule:
    """Continue with the next occurrence from now; occurrences during the pause are not caught up."""
    return _set_paused(database, name, False, actor, now)


def _set_paused(
    database: Database, name: str, paused: bool, actor: str | None, now: datetime | None
) -> StoredSchedule:
    with database.transaction():
        before, now = get(database, name), now or clock(database)
        if before.paused == paused:
            return before
        following = before.next if paused else _next_from(before, now)
        if paused:
            database.run("withdraw_ahead", name=name, now=now)
        wake = following and following - before.schedule.ahead
        records = database.run("pause_schedule", name=name, paused=paused, next=following, wake=wake)
        request(database, [] if paused else [wake])
        note(database, "pause" if paused else "resume", actor, name)
    return StoredSchedule.from_record(records[0])


def _next_from(stored: StoredSchedule, now: datetime) -> datetime | None:
    if stored.schedule.recurrence == REBOOT:
        return stored.next
    return first_after(stored.schedule, now)


def run_now(database: Database, name: str, *, actor: str | None = None, now: datetime | None = None) -> UUID:
    """Enqueue the job now, in addition to the schedule's occurrences; return its id."""
    from minutehand.schedules.fire import enqueue_now

    with database.transaction():
        job = enqueue_now(database, get(database, name), now or clock(database))
        request(database, [NOW])
        note(database, "run", actor, name, job=job)
    return job


def delete(database: Database, name: str, *, actor: str | None = None, now: datetime | None = None) -> None:
    """Delete a schedule; its jobs stay, except those that were enqueued ahead of their occurrence."""
    with database.transaction():
        delete_stored(database, name, now or clock(database))
        note(database, "delete", actor, name)


def delete_stored(database: Database, name: str, now: datetime) -> None:
    """Delete a schedule in the caller's transaction."""
    database.run("withdraw_ahead", name=name, now=now)
    if not database.run("delete_schedule", name=name):
        raise NotFoundError(f"schedule {name!r} does not exist")


def get(database: Database, name: str) -> StoredSchedule:
    """Return a schedule; raise NotFoundError if it does not exist."""
    found = database.run("get_schedule", name=name)
    if not found:
        raise NotFoundError(f"schedule {name!r} does not exist")
    return StoredSchedule.from_record(found[0])


def list_schedules(
    database: Database,
    source: str | None = None,
    *,
    limit: int = MAX_LISTED,
    after: StoredSchedule | tuple[str, str] | None = None,
) -> list[StoredSchedule]:
    """Return a page of the schedules in the order of their names, or of those of a source.

    `after` is the last schedule of the page before, or its tenant and name.
    """
    _check_limit(limit)
    tenant, name = (
        (after.tenant, after.schedule.name) if isinstance(after, StoredSchedule) else after or (None, None)
    )
    records = database.run("list_schedules", source=source, limit=limit, after_tenant=tenant, after_name=name)
    return [StoredSchedule.from_record(record) for record in records]


def list_firings(
    database: Database, name: str, *, limit: int = 50, before: datetime | None = None
) -> list[Firing]:
    """Return the outcomes of a schedule's occurrences, newest first; `before` continues a list."""
    _check_limit(limit)
    check_time(before)
    records = database.run("list_firings", name=name, limit=limit, before=before)
    return [Firing(**record) for record in records]


def _check_limit(limit: int) -> None:
    if not 1 <= limit <= MAX_LISTED:
        raise InvalidJobError(
            "page_is_bounded", f"limit must be an integer from 1 to {MAX_LISTED}, got {limit}"
        )


def clock(database: Database) -> datetime:
    """Return the time of the database's clock."""
    moment: datetime = database.run("clock")[0]["now"]
    return moment


def _try_enqueue(database: Database, schedule: Schedule) -> None:
    """Enqueue the job and roll back, so that an invalid job is refused now and not at its occurrence."""
    options = {name: value for name, value in vars(schedule.job).items() if value is not None}
    with suppress(_Undo, KeyTakenError), trial(), database.transaction():
        enqueue(**options, connection=database)
        raise _Undo


def _times(schedule: Schedule) -> tuple[Any, ...]:
    return schedule.recurrence, schedule.timing.zone, schedule.starts, schedule.ends, schedule.ahead


def note(
    database: Database, verb: str, actor: str | None, name: str, job: UUID | None = None, **facts: Any
) -> None:
    """Write an entry to the audit trail in the caller's transaction."""
    # Imported only when used, for the sake of cold starts.
    from minutehand.operations.audit import record

    record(database, f"schedule {verb}", actor, job, schedule=name, **facts)
