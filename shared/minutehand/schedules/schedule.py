"""Schedule: a name, a recurrence, and the job to enqueue at each occurrence."""

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import get_args
from uuid import UUID

from minutehand.database import Record
from minutehand.errors import InvalidJobError
from minutehand.model.new_job import NewJob, check_calendar, decode_job
from minutehand.model.option import iso_duration
from minutehand.model.recurrence import REBOOT
from minutehand.model.recurrence import check as check_recurrence
from minutehand.model.rules import sentence
from minutehand.model.stored import error_of
from minutehand.model.zones import zone_of
from minutehand.schedules import template
from minutehand.schedules.timing import CatchUp, Overlap, Timing

MAX_PREVIEWED = 1000
# As in the constraint of the table.
MAX_AHEAD = timedelta(days=31)


@dataclass(frozen=True)
class Schedule:
    """A job that is enqueued repeatedly.

    every      a cron expression of 5 or 6 fields, a name such as @daily, an ISO 8601 duration, or a timedelta
    zone       the time zone of `every`; UTC if it is None
    starts     no occurrences before this one
    ends       no occurrences after this one
    jitter     each job runs up to this much later, by a fraction derived from the name
    ahead      jobs are enqueued this long before their occurrence
    catch_up   which occurrences fire after an outage: none, the last, or all, limited to `max_catch_up`
    overlap    what happens at an occurrence while the last job is not finished: allow another job, skip it, or
               replace the pending job
    """

    name: str
    every: str | timedelta
    job: NewJob
    zone: str | None = None
    starts: datetime | None = None
    ends: datetime | None = None
    jitter: timedelta = timedelta()
    ahead: timedelta = timedelta()
    catch_up: CatchUp = "none"
    max_catch_up: int = 100
    overlap: Overlap = "allow"

    @property
    def recurrence(self) -> str:
        """`every` as a text."""
        text: str = iso_duration(self.every)
        return text

    @property
    def timing(self) -> Timing:
        """The part that decides when it fires."""
        values = {each.name: getattr(self, each.name) for each in fields(Timing)}
        return Timing(**values | {"zone": self.zone or "UTC"})

    def digest(self, version: str | None = None) -> str:
        """Return a hash of all fields; the version of the code is included only for `@reboot`."""
        values = [repr(getattr(self.timing, each.name)) for each in fields(Timing)]
        parts = [self.name, self.recurrence, *values, template.encode_job(self.job)]
        parts += [version or ""] if self.every == REBOOT else []
        return sha256("\0".join(parts).encode()).hexdigest()


@dataclass(frozen=True, kw_only=True)
class StoredSchedule:
    """A schedule in the table: `next` is its next occurrence, `fired` its last one, and `last` the job of that one.

    `error` has the type, message and time (`at`) of the latest failure to fire; None after a success.
    """

    schedule: Schedule
    tenant: str
    paused: bool
    source: str | None
    hash: str | None = field(repr=False)
    next: datetime | None
    fired: datetime | None
    last: UUID | None
    error: dict[str, str] | None = field(repr=False)
    created: datetime
    changed: datetime

    @classmethod
    def from_record(cls, record: Record) -> "StoredSchedule":
        """Build it from a record."""
        job = decode_job(record["job"])
        options = {each.name: record[each.name] for each in fields(Schedule) if each.name != "job"}
        state = {each.name: record[each.name] for each in fields(cls) if each.name != "schedule"}
        return cls(schedule=Schedule(job=job, **options), **state | {"error": error_of(record["error"])})


@dataclass(frozen=True)
class Occurrence:
    """An occurrence of a schedule, in UTC and in the local time of its zone."""

    utc: datetime
    local: datetime


def preview(
    every: str | timedelta,
    zone: str | None = None,
    n: int = 10,
    *,
    after: datetime | None = None,
    starts: datetime | None = None,
    ends: datetime | None = None,
) -> list[Occurrence]:
    """Return the next n occurrences after `after`, or after now by this machine's clock; needs no database."""
    recurrence: str = iso_duration(every)
    check_recurrence(recurrence, zone)
    for name, moment in (("starts", starts), ("ends", ends), ("after", after)):
        check_calendar(moment, name)
    if not 0 < n <= MAX_PREVIEWED:
        raise InvalidJobError("preview_is_bounded", sentence("preview_is_bounded"))
    timing = Timing(zone=zone or "UTC", starts=starts, ends=ends)

    def occurrences() -> Iterator[Occurrence]:
        moment = after or datetime.now(UTC)
        for _ in range(n):
            found = timing.after(recurrence, moment)
            if found is None:
                return
            yield Occurrence(found, found.astimezone(zone_of(zone)))
            moment = found

    return list(occurrences())


def check(schedule: Schedule, *, code: bool = False) -> None:
    """Raise InvalidJobError if a schedule is invalid; only code may use `@reboot`."""
    if not isinstance(schedule.name, str) or not 0 < len(schedule.name) <= 200 or "\0" in schedule.name:
        raise InvalidJobError("schedule_is_named", sentence("schedule_is_named"))
    if not (code and schedule.every == REBOOT):
        check_recurrence(schedule.recurrence, schedule.zone)
    for name in ("starts", "ends"):
        check_calendar(getattr(schedule, name), name)
    for name in ("jitter", "ahead"):
        if not isinstance(getattr(schedule, name), timedelta):
            raise InvalidJobError(
                "number_is_in_range",
                f"{name} must be a timedelta, got {type(getattr(schedule, name)).__name__}",
            )
    # The database has the same rule; without this one, the time at which the schedule fires could have no date.
    if not timedelta() <= schedule.ahead <= MAX_AHEAD:
        raise InvalidJobError("ahead_is_up_to_a_month", sentence("ahead_is_up_to_a_month"))
    for rule, value, known in (
        ("catch_up_is_known", schedule.catch_up, get_args(CatchUp)),
        ("overlap_is_known", schedule.overlap, get_args(Overlap)),
    ):
        if value not in known:
            raise InvalidJobError(rule, sentence(rule))
    if not isinstance(schedule.max_catch_up, int) or isinstance(schedule.max_catch_up, bool):
        raise InvalidJobError("max_catch_up_is_1_to_1000", sentence("max_catch_up_is_1_to_1000"))
    template.check_job(schedule.job)
