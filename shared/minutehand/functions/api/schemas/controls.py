"""Controls: pauses and limits."""

from datetime import datetime
from typing import Annotated

from fastapi.openapi.models import Example
from pydantic import BaseModel, Field, StrictBool, StrictInt

from minutehand.functions.api.schemas.common import StrictModel, Time
from minutehand.functions.api.schemas.jobs import JOB
from minutehand.operations.controls import MAX_LISTED


class ControlTarget(StrictModel):
    """The jobs of a queue, a kind, a key or a tenant, or of several of these together."""

    queue: str = Field("", max_length=100, description="jobs of this queue")
    kind: str = Field("", max_length=100, description="jobs of this kind")
    key: str = Field("", max_length=1024, description="jobs with this key")
    tenant: str = Field("", max_length=100, description="jobs of this tenant")


class PauseTarget(ControlTarget):
    """The jobs of a pause: those with these names, or all jobs."""

    everything: StrictBool = Field(False, description="all jobs; excludes the other names")


class PauseRequest(PauseTarget):
    """The jobs to pause, and for how long."""

    until: Time = Field(None, description="when the pause ends by itself")
    reason: str | None = Field(None, max_length=1000, description="the reason")


class LimitRequest(ControlTarget):
    """The jobs to limit, and how many may be offered or running at once."""

    limit: Annotated[StrictInt, Field(ge=0, lt=2**31)]
    reason: str | None = Field(None, max_length=1000, description="the reason")


class Control(BaseModel):
    """A pause or a limit; an empty name matches any, so one without names applies to all jobs."""

    queue: str
    kind: str
    key: str
    tenant: str
    paused: bool
    limit: int | None = Field(description="the limit")
    until: datetime | None
    reason: str | None = Field(description="the reason")
    changed: datetime
    busy: int | None = Field(None, description="matching jobs that are offered or running")


class ControlFilter(StrictModel):
    """The pauses and limits to list."""

    limit: int = Field(100, ge=1, le=MAX_LISTED, description="the maximum number of pauses and limits")
    after: str | None = Field(
        None,
        max_length=1400,
        pattern="^[^/]*/[^/]*/[^/]*/",
        description="the next page: the cursor `after` of this page",
    )


class Controls(BaseModel):
    """Pauses and limits, sorted by tenant, queue, kind and key."""

    controls: list[Control]
    after: str | None = Field(description="the cursor of the next page, if there is one")


class EndedControl(BaseModel):
    """Whether a pause or limit existed."""

    ended: bool


CONTROL = {
    "queue": "mail",
    "kind": "",
    "key": "",
    "tenant": "",
    "paused": True,
    "limit": None,
    "until": None,
    "reason": "release",
    "changed": JOB["enqueued"],
    "busy": 2,
}
CONTROLS = {"controls": [CONTROL], "after": None}
TARGETS: dict[str, Example] = {"a queue": {"value": {"queue": "mail"}}}
PAUSE_REQUESTS: dict[str, Example] = {
    "a queue": {"value": {"queue": "mail", "reason": "the provider is down"}},
    "all jobs": {"value": {"everything": True, "reason": "the database is being upgraded"}},
    "a kind, for some time": {"value": {"kind": "report", "until": "2026-01-31T08:00:00+01:00"}},
}
LIMIT_REQUESTS: dict[str, Example] = {"two of a kind": {"value": {"kind": "report", "limit": 2}}}
