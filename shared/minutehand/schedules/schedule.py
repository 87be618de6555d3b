"""Schedule: a name, when it recurs, and the job that each of its moments enqueues."""

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any, get_args
from uuid import UUID
from zoneinfo import ZoneInfo

from minutehand.database import Record
from minutehand.errors import InvalidJobError
from minutehand.model.new_job import NewJob
from minutehand.model.recurrence import REBOOT
from minutehand.model.recurrence import check as check_recurrence
from minutehand.model.rules import sentence
from minutehand.schedules import template
from minutehand.schedules.timing import CatchUp, Overlap, Timing

MAX_PREVIEWED = 1000


@dataclass(frozen=True)
class Schedule:
    """What is enqueued again and again.

    `every` is a cron expression of 5 or 6 fields, @daily and its like, or an ISO 8601 duration, by the clocks of
    `zone`, from `starts` to `ends`. Each job runs up to `jitter` later, by a share that the name decides. `ahead` has
    jobs enqueued so long before their moment. `catch_up` says what becomes of moments that an outage swallowed: none,
    the last, or all, though at most `most`. `overlap` says what a moment does while the last job is not finished:
    allow another, skip this one, or replace the one that waits.
    """

    name: str
    every: str
    job: NewJob
    zone: str | None = None
    starts: datetime | None = None
    ends: datetime | None = None
    jitter: timedelta = timedelta()
    ahead: timedelta = timedelta()
    catch_up: CatchUp = "none"
    most: int = 100
    overlap: Overlap = "allow"

    @property
    def timing(self) -> Timing:
        """What decides when it fires."""
        said = {each.name: getattr(self, each.name) for each in fields(Timing)}
        return Timing(**said | {"zone": self.zone or "UTC"})

    def digest(self, version: str | None = None) -> str:
        """Return a hash of all that is said; another version of the code counts only for `@reboot`."""
        said = [repr(getattr(self.timing, each.name)) for each in fields(Timing)]
        parts = [self.name, self.every, *said, template.encode_job(self.job)]
        parts += [version or ""] if self.every == REBOOT else []
        return sha256("\0".join(parts).encode()).hexdigest()


@dataclass(frozen=True, kw_only=True)
class StoredSchedule:
    """A schedule as it stands in the table: `next` is its next moment, `fired` its last, and `last` the job of it."""

    schedule: Schedule
    tenant: str
    paused: bool
    source: str | None
    hash: str | None = field(repr=False)
    next: datetime | None
    fired: datetime | None
    last: UUID | None
    created: datetime
    changed: datetime

    @classmethod
    def from_record(cls, record: Record) -> "StoredSchedule":
        """Build it from what a statement returned."""
        job = template.decode_job(record["job"])
        said = {each.name: record[each.name] for each in fields(Schedule) if each.name != "job"}
        own = {each.name: record[each.name] for each in fields(cls) if each.name != "schedule"}
        return cls(schedule=Schedule(job=job, **said), **own)


@dataclass(frozen=True)
class Moment:
    """A moment of a schedule, in UTC and by the clocks of its zone."""

    utc: datetime
    local: datetime


def preview(
    every: str, zone: str | None = None, n: int = 10, *, after: datetime | None = None,
    starts: datetime | None = None, ends: datetime | None = None,
) -> list[Moment]:  # fmt: skip
    """Return the next n moments after `after`, or after now; without a database, by this machine's clock."""
    check_recurrence(every, zone)
    for name, moment in (("starts", starts), ("ends", ends), ("after", after)):
        _check_moment(name, moment)
    if not 0 < n <= MAX_PREVIEWED:
        raise InvalidJobError("preview_is_bounded", sentence("preview_is_bounded"))
    timing = Timing(zone=zone or "UTC", starts=starts, ends=ends)
    clocks = ZoneInfo(zone) if zone and zone != "UTC" else UTC

    def moments() -> Iterator[Moment]:
        moment = after or datetime.now(UTC)
        for _ in range(n):
            found = timing.after(every, moment)
            if found is None:
                return
            yield Moment(found, found.astimezone(clocks))
            moment = found

    return list(moments())


def check(schedule: Schedule, *, code: bool = False) -> None:
    """Raise InvalidJobError for what cannot be a schedule; only code's may be `@reboot`."""
    if not isinstance(schedule.name, str) or not 0 < len(schedule.name) <= 200 or "\0" in schedule.name:
        raise InvalidJobError("schedule_is_named", sentence("schedule_is_named"))
    if not (code and schedule.every == REBOOT):
        check_recurrence(schedule.every, schedule.zone)
    for name in ("starts", "ends"):
        _check_moment(name, getattr(schedule, name))
    for name in ("jitter", "ahead"):
        if not isinstance(getattr(schedule, name), timedelta):
            raise InvalidJobError("number_is_in_range", f"{name} is a timedelta")
    for rule, said, known in (
        ("catch_up_is_known", schedule.catch_up, get_args(CatchUp)),
        ("overlap_is_known", schedule.overlap, get_args(Overlap)),
    ):
        if said not in known:
            raise InvalidJobError(rule, sentence(rule))
    if not isinstance(schedule.most, int) or isinstance(schedule.most, bool):
        raise InvalidJobError("most_is_1_to_1000", sentence("most_is_1_to_1000"))
    template.check_job(schedule.job)


def _check_moment(name: str, moment: Any) -> None:
    if moment is not None and (not isinstance(moment, datetime) or moment.utcoffset() is None):
        raise InvalidJobError("moment_is_finite", f"{name} is a datetime with a time zone")
