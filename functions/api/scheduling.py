"""Scheduling: what callers say of a schedule, and what they are told of it."""

from datetime import datetime, timedelta
from typing import Any, Literal
from uuid import UUID

from fastapi.openapi.models import Example
from pydantic import BaseModel, Field, StrictInt

from minutehand import schedules as library
from minutehand.model.rules import sentence
from minutehand.schedules.schedule import MAX_PREVIEWED
from minutehand.schedules.timing import CatchUp, Overlap
from models import Duration, Moment, NewJob, Said
from openapi import COMMON, WITH_BODY, _says

EVERY = {"every": "0 8 * * mon", "zone": "Europe/Berlin"}
WEEKLY: dict[str, Example] = {
    "every Monday at eight": {"value": {**EVERY, "job": {"kind": "report", "payload": {"n": 1}}}},
    "with all that can be said": {
        "value": {
            "every": "PT15M",
            "starts": "2026-01-31T08:00:00+01:00",
            "ends": "2027-01-31T08:00:00+01:00",
            "jitter": 30,
            "ahead": "PT1H",
            "catch_up": "all",
            "most": 10,
            "overlap": "allow",
            "job": {"kind": "report", "queue": "slow"},
        }
    },
}
PREVIEW: dict[str, Example] = {"the next three": {"value": {**EVERY, "n": 3}}}


class Recurs(Said):
    """When something recurs."""

    every: str = Field(description=sentence("every_recurs"))
    zone: str | None = Field(None, description=f"{sentence('zone_is_known')}; UTC unless said")
    starts: Moment = Field(None, description="not before this moment; durations count from it")
    ends: Moment = Field(None, description="not after this moment")


class Preview(Recurs):
    """What is to be previewed."""

    n: StrictInt = Field(10, ge=1, le=MAX_PREVIEWED, description="how many moments")


class Schedule(Recurs):
    """A schedule: all of it is said at once, and what is left out is as if it had never been said."""

    job: NewJob = Field(
        description="what each moment enqueues; without a moment, recurrence or tenant of its own"
    )
    jitter: Duration = Field(
        None, description="jobs run up to so much later, by a share that the name decides"
    )
    ahead: Duration = Field(None, description="jobs are enqueued so long before their moment")
    catch_up: CatchUp = Field(
        "none", description="which of the moments that an outage swallowed fire after it"
    )
    most: StrictInt = Field(100, description="with catch_up all: how many at most")
    overlap: Overlap = Field("allow", description="what a moment does while the last job is not finished")

    def to_schedule(self, name: str) -> library.Schedule:
        """Return it as the library's."""
        return library.Schedule(
            name, self.every, self.job.to_job(), self.zone, self.starts, self.ends, self.jitter or timedelta(),
            self.ahead or timedelta(), self.catch_up, self.most, self.overlap,
        )  # fmt: skip


class Page(Said):
    """Which lines of the ledger."""

    before: Moment = Field(None, description="those before this moment")
    limit: int = Field(50, ge=1, le=1000, description="how many at most")


class ToldSchedule(BaseModel):
    """A schedule as it stands."""

    name: str
    every: str
    zone: str
    starts: datetime | None
    ends: datetime | None
    jitter: float
    ahead: float
    catch_up: CatchUp
    most: int
    overlap: Overlap
    job: dict[str, Any] = Field(
        description="what it enqueues; its payload and headers only with include=payload"
    )
    tenant: str
    paused: bool
    source: str | None = Field(description="the code that declares it")
    next: datetime | None = Field(description="its next moment; none when it is over")
    fired: datetime | None = Field(description="its last moment that fired")
    last: UUID | None = Field(description="the job of that moment")
    created: datetime
    changed: datetime


class ToldSchedules(BaseModel):
    """Schedules by name."""

    schedules: list[ToldSchedule]


class ToldMoment(BaseModel):
    """A moment, in UTC and by the clocks of its zone."""

    utc: datetime
    local: datetime


class ToldMoments(BaseModel):
    """Moments in order."""

    moments: list[ToldMoment]


class ToldFiring(BaseModel):
    """What became of a moment, or of several that were missed."""

    nominal: datetime
    fired: datetime
    outcome: Literal["fired", "asked", "skipped", "missed", "refused"]
    count: int
    job: UUID | None


class ToldFirings(BaseModel):
    """The ledger of a schedule, the last moment first."""

    firings: list[ToldFiring]


class ToldJob(BaseModel):
    """The job that was enqueued."""

    id: UUID


JOB_ID = "0198a5b0-0000-7000-8000-000000000001"
MONDAY = "2026-02-02T07:00:00+00:00"
TOLD: dict[str, Any] = {
    "name": "report", **EVERY, "starts": None, "ends": None, "jitter": 0.0, "ahead": 0.0, "catch_up": "none",
    "most": 100, "overlap": "allow", "job": {"kind": "report"}, "tenant": "", "paused": False, "source": None,
    "next": MONDAY,
    "fired": None, "last": None, "created": "2026-01-30T12:00:00+00:00", "changed": "2026-01-30T12:00:00+00:00",
}  # fmt: skip
FIRING = {"nominal": MONDAY, "fired": MONDAY, "outcome": "fired", "count": 1, "job": JOB_ID}

LIST = _says(200, "All of them", ToldSchedules, {"schedules": [TOLD]}, *COMMON)
GET = _says(200, "The schedule", ToldSchedule, TOLD, *COMMON, 404)
PUT = _says(200, "The schedule, written", ToldSchedule, TOLD, *WITH_BODY, 404)
DELETE = _says(200, "The schedule as it was", ToldSchedule, TOLD, *COMMON, 404)
TURN = _says(200, "The schedule, changed", ToldSchedule, TOLD, *WITH_BODY, 404)
RUN = _says(201, "Enqueued", ToldJob, {"id": JOB_ID}, *WITH_BODY, 404, 409)
MOMENTS = _says(
    200,
    "The next moments",
    ToldMoments,
    {"moments": [{"utc": MONDAY, "local": "2026-02-02T08:00:00+01:00"}]},
    *WITH_BODY,
)
FIRINGS = _says(200, "A page", ToldFirings, {"firings": [FIRING]}, *COMMON, 404)
