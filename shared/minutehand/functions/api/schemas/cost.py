"""The costs of a month."""

from dataclasses import asdict
from datetime import date, datetime
from typing import Any, Literal

from pydantic import BaseModel, Field

from minutehand.costs import report as library
from minutehand.costs.prices import Prices
from minutehand.functions.api.schemas.common import StrictModel

Mode = Literal["minute", "prompt", "sleep"]
Architecture = Literal["arm64", "x86_64"]


class CostFilter(StrictModel):
    """The month, and what the functions run on."""

    month: str | None = Field(None, description="a month in UTC, such as 2026-11; the current one by default")
    mode: Mode | None = Field(None, description="the mode of the installation by default")
    architecture: Architecture = Field("arm64", description="the architecture of the functions")


class KindCost(BaseModel):
    """The dollars that a kind cost, and the figures that they are computed from."""

    kind: str
    memory_mb: int
    attempts: int
    invocations: float
    gb_seconds: float
    dollars: float


class DispatcherCost(BaseModel):
    """The dollars for the dispatcher and its schedules."""

    recorded: bool = Field(description="false for an estimate, if no dispatcher ran on Lambda in this month")
    invocations: float
    scheduled: float = Field(description="invocations that EventBridge Scheduler started")
    gb_seconds: float
    dollars: float


class Alternative(BaseModel):
    """What the same work would cost in a mode of minutehand or on another service; an estimate."""

    name: str
    dollars: float
    idle: float = Field(description="dollars of a whole month without jobs")
    database: float | None = Field(
        description="dollars of a database that could pause, in such a month; null for other services"
    )


class PriceTable(BaseModel):
    """The table of prices."""

    dated: date
    region: str


class Cost(BaseModel):
    """The costs of a month in dollars. The first alternative is the mode of this installation."""

    month: str
    until: datetime
    mode: Mode
    architecture: Architecture
    jobs: int
    kinds: list[KindCost]
    work: float = Field(description="the workers")
    dispatcher: DispatcherCost
    total: float
    per_million: float | None = Field(description="the workers, for a million jobs; null without jobs")
    alternatives: list[Alternative]
    prices: PriceTable


def cost_fields(found: library.Report, prices: Prices) -> dict[str, Any]:
    """Return a report with its sums and the date of its prices."""
    sums = {"work": found.work, "total": found.total, "per_million": found.per_million}
    return {**asdict(found), **sums, "prices": {"dated": prices.dated.isoformat(), "region": prices.region}}


COST = {
    "month": "2026-11",
    "until": "2026-11-22T21:50:00Z",
    "mode": "minute",
    "architecture": "arm64",
    "jobs": 1200000,
    "kinds": [
        {
            "kind": "mail",
            "memory_mb": 512,
            "attempts": 1200000,
            "invocations": 120000.0,
            "gb_seconds": 31500.0,
            "dollars": 0.44,
        }
    ],
    "work": 0.44,
    "dispatcher": {
        "recorded": True,
        "invocations": 31500.0,
        "scheduled": 31500.0,
        "gb_seconds": 2400.0,
        "dollars": 0.07,
    },
    "total": 0.51,
    "per_million": 0.37,
    "alternatives": [
        {"name": "minutehand, mode minute", "dollars": 0.51, "idle": 0.095, "database": 43.2},
        {"name": "SQS and Lambda", "dollars": 1.02, "idle": 0.26, "database": None},
    ],
    "prices": {"dated": "2026-10-02", "region": "us-east-1"},
}
