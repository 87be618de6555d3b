"""Schedules: their options, their state, and the log of their firings."""

from datetime import datetime, timedelta
from typing import Any, Literal
from uuid import UUID

from fastapi.openapi.models import Example
from pydantic import BaseModel, Field, StrictInt

from minutehand import schedules as library
from minutehand.functions.api.schemas.common import Duration, Include, StrictModel, Time
from minutehand.functions.api.schemas.enqueue import JobOptions
from minutehand.model.new_job import shown_options
from minutehand.model.rules import sentence
from minutehand.schedules import StoredSchedule
from minutehand.schedules.manage import MAX_LISTED
from minutehand.schedules.schedule import MAX_PREVIEWED
from minutehand.schedules.timing import CatchUp, Overlap

MASKED_FIELDS = ("payload", "headers")


class Recurrence(StrictModel):
    """A recurrence and its time zone."""

    every: str = Field(description=sentence("every_recurs"))
    zone: str | None = Field(None, description=f"{sentence('zone_is_known')}; UTC by default")
    starts: Time = Field(None, description="not before this time; durations count from it")
    ends: Time = Field(None, description="not after this time")


class PreviewRequest(Recurrence):
    """A recurrence to preview."""

    n: StrictInt = Field(10, ge=1, le=MAX_PREVIEWED, description="the number of occurrences")


class ScheduleRequest(Recurrence):
    """A schedule. It is replaced as a whole: omitted fields have their defaults."""

    job: JobOptions = Field(
        description="the job that each occurrence enqueues, without run_at, delay, every or tenant"
    )
    jitter: Duration = Field(
        None, description="delay the jobs by up to this time; the delay is fixed for each name"
    )
    ahead: Duration = Field(None, description="enqueue jobs this long before they run")
    catch_up: CatchUp = Field("none", description="which missed occurrences to fire after an outage")
    max_catch_up: StrictInt = Field(100, description="with catch_up=all: the maximum number of occurrences")
    overlap: Overlap = Field("allow", description="what to do if the previous job is not finished")

    def to_schedule(self, name: str) -> library.Schedule:
        """Return the library's schedule."""
        return library.Schedule(
            name=name,
            every=self.every,
            job=self.job.to_job(),
            zone=self.zone,
            starts=self.starts,
            ends=self.ends,
            jitter=self.jitter or timedelta(),
            ahead=self.ahead or timedelta(),
            catch_up=self.catch_up,
            max_catch_up=self.max_catch_up,
            overlap=self.overlap,
        )


class ScheduleFilter(StrictModel):
    """The schedules to list."""

    name: str | None = Field(
        None, min_length=1, max_length=200, description="only this schedule, whatever its name ends with"
    )
    include: Include | None = Field(None, description="with name: include payload and headers")

    limit: int = Field(50, ge=1, le=MAX_LISTED, description="the maximum number of schedules")
    after: str | None = Field(
        None, max_length=301, description="the next page: the cursor `after` of this page"
    )


class FiringFilter(StrictModel):
    """The firings to list."""

    before: Time = Field(None, description="firings before this time")
    limit: int = Field(50, ge=1, le=1000, description="the maximum number of firings")


class Schedule(BaseModel):
    """A schedule and its state."""

    name: str
    every: str
    zone: str
    starts: datetime | None
    ends: datetime | None
    jitter: float
    ahead: float
    catch_up: CatchUp
    max_catch_up: int
    overlap: Overlap
    job: dict[str, Any] = Field(description="its job; payload and headers only with include=payload")
    tenant: str
    paused: bool
    source: str | None = Field(description="the code that declares it")
    next: datetime | None = Field(description="the next occurrence; null if there is none")
    fired: datetime | None = Field(description="the last occurrence that fired")
    last: UUID | None = Field(description="the job of that occurrence")
    error: dict[str, str] | None = Field(
        description="why the last occurrence did not fire: type, message, at"
    )
    created: datetime
    changed: datetime


class Schedules(BaseModel):
    """Schedules, sorted by name."""

    schedules: list[Schedule]
    after: str | None = Field(description="the cursor of the next page, if there is one")


class Occurrence(BaseModel):
    """An occurrence, in UTC and in the schedule's time zone."""

    utc: datetime
    local: datetime


class Occurrences(BaseModel):
    """Occurrences in order."""

    occurrences: list[Occurrence]


class Firing(BaseModel):
    """The outcome of an occurrence, or of several that were missed."""

    nominal: datetime = Field(description="the time of the occurrence")
    fired: datetime
    outcome: Literal["fired", "requested", "skipped", "missed", "refused"]
    count: int
    job: UUID | None


class Firings(BaseModel):
    """The firings of a schedule, the newest first."""

    firings: list[Firing]


class ScheduleRun(BaseModel):
    """The enqueued job."""

    id: UUID


def schedule_fields(stored: StoredSchedule, *, unmasked: bool = False) -> dict[str, Any]:
    """Return a schedule and its state; the job's payload and headers only if unmasked."""
    shown = shown_options(stored.schedule.job, () if unmasked else MASKED_FIELDS)
    schedule = vars(stored.schedule) | {"zone": stored.schedule.zone or "UTC", "job": shown}
    state = {name: value for name, value in vars(stored).items() if name not in ("schedule", "hash")}
    return schedule | state


JOB_ID = "0198a5b0-0000-7000-8000-000000000001"
MONDAY = "2026-02-02T07:00:00+00:00"
CREATED = "2026-01-30T12:00:00+00:00"
RECURRENCE = {"every": "0 8 * * mon", "zone": "Europe/Berlin"}
SCHEDULE: dict[str, Any] = {
    "name": "report",
    **RECURRENCE,
    "starts": None,
    "ends": None,
    "jitter": 0.0,
    "ahead": 0.0,
    "catch_up": "none",
    "max_catch_up": 100,
    "overlap": "allow",
    "job": {"kind": "report"},
    "tenant": "",
    "paused": False,
    "source": None,
    "next": MONDAY,
    "fired": None,
    "last": None,
    "error": None,
    "created": CREATED,
    "changed": CREATED,
}
SCHEDULES = {"schedules": [SCHEDULE], "after": None}
OCCURRENCES = {"occurrences": [{"utc": MONDAY, "local": "2026-02-02T08:00:00+01:00"}]}
FIRING = {"nominal": MONDAY, "fired": MONDAY, "outcome": "fired", "count": 1, "job": JOB_ID}
SCHEDULE_REQUESTS: dict[str, Example] = {
    "every Monday at eight": {"value": {**RECURRENCE, "job": {"kind": "report", "payload": {"n": 1}}}},
    "with all options": {
        "value": {
            "every": "PT15M",
            "starts": "2026-01-31T08:00:00+01:00",
            "ends": "2027-01-31T08:00:00+01:00",
            "jitter": 30,
            "ahead": "PT1H",
            "catch_up": "all",
            "max_catch_up": 10,
            "overlap": "allow",
            "job": {"kind": "report", "queue": "slow"},
        }
    },
}
PREVIEW_REQUESTS: dict[str, Example] = {"the next three": {"value": {**RECURRENCE, "n": 3}}}
