"""What needs attention, the history of hours and days, and the caller."""

from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field

from minutehand.functions.api.schemas.common import StrictModel
from minutehand.functions.api.schemas.jobs import JOB
from minutehand.queries import history as library
from minutehand.queries.attention.items import Severity, What
from minutehand.queries.history import Window


class Me(BaseModel):
    """The caller."""

    actor: str | None = Field(description="the name of the token, or the subject of the gateway's authorizer")
    tenant: str = Field(description="the tenant to which the caller is confined; empty for all tenants")
    role: str = Field(description="`operator`, or `reader`, who may change nothing")
    local: bool = Field(description="whether it is a local run")
    region: str | None = Field(description="the AWS region, for links to logs")
    version: str
    now: datetime = Field(description="the time by the database's clock")


class AttentionItem(BaseModel):
    """One thing that needs attention."""

    what: What
    severity: Severity
    sentence: str
    next_step: str = Field(description="a command or an instruction")
    queue: str | None
    kind: str | None
    count: int | None = Field(description="the number of its jobs; null if it has none of its own")
    more: bool = Field(description="whether there are more jobs than `count`")
    since: datetime | None
    filter: dict[str, Any] | None = Field(description="the parameters of GET /jobs that list its jobs")


class Attention(BaseModel):
    """What needs attention, the worst first."""

    now: datetime
    items: list[AttentionItem]


class HistoryFilter(StrictModel):
    """The window to read."""

    window: Window = Field("1h", description="the last hour by minutes, day by quarters, or week by hours")
    queue: str | None = Field(None, description="jobs of this queue")


class HistoryStep(BaseModel):
    """A part of the window. Durations are in seconds, null if nothing finished."""

    start: datetime
    enqueued: int
    done: int
    dead: int
    expired: int
    cancelled: int
    wait_p50: float | None
    wait_p95: float | None
    run_p50: float | None
    run_p95: float | None


class Percentiles(BaseModel):
    """Percentiles of durations in seconds, within a fifth of the exact ones."""

    count: int
    p50: float
    p95: float
    p99: float


class History(BaseModel):
    """The steps of a window, including empty ones."""

    since: datetime
    until: datetime
    step: int = Field(description="the length of a step in seconds")
    complete: bool = Field(description="false if a tenant has too many jobs to count all of the window")
    bins: list[HistoryStep]
    wait: Percentiles | None = Field(
        description="the time until the first attempt, of jobs that ended with it"
    )
    run: Percentiles | None = Field(description="how long the last attempt ran")


def history_fields(history: library.History) -> dict[str, Any]:
    """Return a history, with the counts and the percentiles of each step."""
    return {
        "since": history.since,
        "until": history.until,
        "step": int(history.step.total_seconds()),
        "complete": history.complete,
        "bins": [_step_fields(each) for each in history.bins],
        "wait": history.wait and vars(history.wait),
        "run": history.run and vars(history.run),
    }


def _step_fields(step: library.Step) -> dict[str, Any]:
    counts = {name: value for name, value in vars(step).items() if name not in ("wait", "run")}
    return counts | {
        f"{name}_{part}": getattr(getattr(step, name), part, None)
        for name in ("wait", "run")
        for part in ("p50", "p95")
    }


ME = {
    "actor": "ada",
    "tenant": "",
    "role": "operator",
    "local": False,
    "region": "eu-central-1",
    "version": "1.0.0",
    "now": JOB["visible"],
}
ATTENTION = {
    "now": JOB["visible"],
    "items": [
        {
            "what": "late",
            "severity": "warning",
            "sentence": "Queue mail has 12 jobs due, the oldest for 4 min.",
            "next_step": "minutehand why mail",
            "queue": "mail",
            "kind": None,
            "count": 12,
            "more": False,
            "since": None,
            "filter": {"queue": "mail", "state": ["due"]},
        }
    ],
}
SECONDS = {"count": 38, "p50": 0.2, "p95": 1.4, "p99": 4.0}
STEP = {
    "start": JOB["visible"],
    "enqueued": 40,
    "done": 38,
    "dead": 1,
    "expired": 0,
    "cancelled": 0,
    "wait_p50": 0.2,
    "wait_p95": 1.4,
    "run_p50": 0.2,
    "run_p95": 1.4,
}
HISTORY = {
    "since": JOB["visible"],
    "until": JOB["visible"],
    "step": 60,
    "complete": True,
    "bins": [STEP],
    "wait": SECONDS,
    "run": SECONDS,
}
