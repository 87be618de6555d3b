"""The state of the installation, and the doctor's findings."""

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, Field

from minutehand import __version__
from minutehand.functions.api.findings import Examination
from minutehand.functions.api.schemas.jobs import JOB
from minutehand.queries import system as library
from minutehand.schema.steps import migrations
from minutehand.settings.table import MODE


class Ticks(BaseModel):
    """The latest ticks; null if there was none."""

    last: datetime | None
    previous: datetime | None
    swept: datetime | None = Field(
        description="the latest sweep, which corrects where ticks look for due jobs"
    )
    wakeup_failed: datetime | None = Field(
        description="in mode `sleep`: when a tick could not create the wake-up of the next one"
    )
    wakeup_error: str | None
    offer_ttl: float | None = Field(description="the offers' time to live in seconds")


class Capacity(BaseModel):
    """The capacity of the latest tick, and how much of it is in use; null before the first tick."""

    limit: int | None
    used: int = Field(description="offered and running jobs, counted up to 10,000")
    free: int | None


class SystemBudget(BaseModel):
    """A queue that may use less than the capacity, because workers did not claim offers of it."""

    queue: str
    budget: int = Field(description="how many of its jobs may be offered or running now")
    used: int
    free: int
    lapsed: datetime = Field(
        description="when offers lapsed the last time; ten minutes later the budget grows"
    )


class SystemWorker(BaseModel):
    """A worker that ended some of the latest jobs, and the version of its code."""

    worker: str | None
    version: str | None
    jobs: int
    first: datetime
    last: datetime


class SystemSchema(BaseModel):
    """The version of the database's schema, and the one that this API's code requires."""

    version: int
    required: int
    migrated: datetime


class Connections(BaseModel):
    """The connections of the server."""

    used: int
    limit: int


class SystemFinding(BaseModel):
    """The result of one of the doctor's checks."""

    check: str
    verdict: Literal["ok", "warning", "problem", "skipped"]
    found: str
    advice: str = Field(description="what to do; empty if there is nothing to do")


class System(BaseModel):
    """The state of the installation."""

    now: datetime
    version: str = Field(description="the version of the library that this API runs")
    mode: str = Field(description="`minute`, `prompt` or `sleep`")
    db_schema: SystemSchema = Field(alias="schema")
    ticks: Ticks
    capacity: Capacity
    connections: Connections
    budgets: list[SystemBudget] = Field(description="the smallest first, at most 100")
    workers: list[SystemWorker] = Field(description="those of the latest jobs, the newest first, at most 50")
    examined: datetime | None = Field(
        description="when the doctor last examined the database; null while it does so for the first time"
    )
    findings: list[SystemFinding]


def system_fields(found: library.System, examination: Examination | None) -> dict[str, Any]:
    """Return the state of the installation with the doctor's findings, which are empty during the first examination."""
    return {
        "now": found.now,
        "version": __version__,
        "mode": MODE.read(),
        "schema": {
            "version": found.schema_version,
            "required": migrations()[-1].version,
            "migrated": found.migrated,
        },
        "ticks": {
            "last": found.ticked,
            "previous": found.previous,
            "swept": found.swept,
            "wakeup_failed": found.wakeup_failed,
            "wakeup_error": found.wakeup_error,
            "offer_ttl": found.offer_ttl,
        },
        "capacity": {
            "limit": found.capacity,
            "used": found.busy,
            "free": None if found.capacity is None else max(0, found.capacity - found.busy),
        },
        "connections": {"used": found.connections, "limit": found.max_connections},
        "budgets": [vars(each) | {"free": max(0, each.budget - each.used)} for each in found.budgets],
        "workers": [vars(each) for each in found.workers],
        "examined": examination and examination.at,
        "findings": [vars(each) for each in examination.findings] if examination else [],
    }


AT = JOB["visible"]
SYSTEM = {
    "now": AT,
    "version": "1.0.0",
    "mode": "minute",
    "schema": {"version": 14, "required": 14, "migrated": AT},
    "ticks": {
        "last": AT,
        "previous": AT,
        "swept": AT,
        "wakeup_failed": None,
        "wakeup_error": None,
        "offer_ttl": 120.0,
    },
    "capacity": {"limit": 50, "used": 12, "free": 38},
    "connections": {"used": 31, "limit": 100},
    "budgets": [{"queue": "mail", "budget": 25, "used": 20, "free": 5, "lapsed": AT}],
    "workers": [{"worker": "shop-worker", "version": "42", "jobs": 180, "first": AT, "last": AT}],
    "examined": AT,
    "findings": [
        {
            "check": "late",
            "verdict": "problem",
            "found": "queue mail has a job that has been due for 4 min",
            "advice": "see last-tick; without a dispatcher, run: minutehand work --queue mail",
        }
    ],
}
