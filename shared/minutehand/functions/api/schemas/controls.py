"""Controls: pauses and limits."""

from datetime import datetime
from typing import Annotated, Literal

from fastapi.openapi.models import Example
from pydantic import BaseModel, Field, StrictBool, StrictInt

from minutehand.functions.api.schemas.common import Duration, StrictModel, Time
from minutehand.functions.api.schemas.jobs import JOB
from minutehand.model.control import MOST_STARTS, OnDead
from minutehand.model.share import HEAVIEST
from minutehand.operations.controls import MAX_LISTED


class ControlTarget(StrictModel):
    """The jobs of a queue, a kind, a key, a group or a tenant, or of several of these together."""

    queue: str = Field("", max_length=100, description="jobs of this queue")
    kind: str = Field("", max_length=100, description="jobs of this kind")
    key: str = Field("", max_length=1024, description="jobs with this key")
    group: str = Field("", max_length=1024, description="jobs of this group")
    tenant: str = Field("", max_length=100, description="jobs of this tenant")


class LimitTarget(ControlTarget):
    """The jobs of a limit: those with these names, or each group, key or tenant of them."""

    per: Literal["", "group", "key", "tenant"] = Field("", description="a limit of each group, key or tenant")


class PauseTarget(ControlTarget):
    """The jobs of a pause: those with these names, or all jobs."""

    everything: StrictBool = Field(False, description="all jobs; excludes the other names")


class PauseRequest(PauseTarget):
    """The jobs to pause, and for how long."""

    until: Time = Field(None, description="when the pause ends by itself")
    reason: str | None = Field(None, max_length=1000, description="the reason")


class LimitRequest(LimitTarget):
    """The jobs to limit, how many may be offered or running at once, how many may start, and in which order."""

    limit: Annotated[StrictInt, Field(ge=0, lt=2**31)] | None = Field(
        None, description="how many may be offered or running at once"
    )
    rate: Annotated[StrictInt, Field(ge=1, le=MOST_STARTS)] | None = Field(
        None, description="how many may start in each period"
    )
    period: Duration = Field(None, description="the period of the rate: seconds, or ISO 8601 such as PT1M")
    burst: Annotated[StrictInt, Field(ge=1, le=MOST_STARTS)] | None = Field(
        None, description="how many may start at the same time; the default is the rate"
    )
    in_order: StrictBool | None = Field(None, description="the jobs of a group start in the order of run_at")
    on_dead: OnDead | None = Field(
        None, description="whether a dead job blocks its ordered group; the default is continue"
    )
    break_after: Annotated[StrictInt, Field(ge=1, le=MOST_STARTS)] | None = Field(
        None, description="after how many failures in a row a group pauses"
    )
    break_for: Duration = Field(None, description="how long it pauses; the default is a minute")
    reason: str | None = Field(None, max_length=1000, description="the reason")


class UnblockRequest(StrictModel):
    """The group that continues."""

    group: str = Field(min_length=1, max_length=1024, description="the group")
    queue: str = Field("default", max_length=100, description="the queue of the group")
    tenant: str = Field("", max_length=100, description="the tenant of the group")


class Control(BaseModel):
    """A pause or a limit; an empty name matches any, so one without names applies to all jobs."""

    queue: str
    kind: str
    key: str
    group: str
    tenant: str
    per: Literal["", "group", "key", "tenant"]
    paused: bool
    limit: int | None = Field(description="how many may be offered or running at once")
    rate: int | None = Field(description="how many may start in each period")
    period: float | None = Field(description="seconds")
    burst: int | None = Field(description="how many may start at the same time")
    in_order: bool | None = Field(description="the jobs of a group start in the order of run_at")
    on_dead: OnDead | None = Field(description="whether a dead job blocks its ordered group")
    break_after: int | None = Field(description="after how many failures in a row a group pauses")
    break_for: float | None = Field(description="how long it pauses, in seconds")
    until: datetime | None
    reason: str | None = Field(description="the reason")
    changed: datetime
    busy: int | None = Field(
        None,
        description="matching jobs that are offered or running; with per, those of the group, key or tenant with most",
    )
    full: int | None = Field(None, description="with per, how many groups, keys or tenants have no room")
    free_at: datetime | None = Field(
        None, description="when an exhausted rate or an open breaker allows the next start"
    )
    open: int | None = Field(None, description="how many groups have a breaker that is open or half open")


class ControlFilter(StrictModel):
    """The pauses and limits to list."""

    limit: int = Field(100, ge=1, le=MAX_LISTED, description="the maximum number of pauses and limits")
    after: str | None = Field(
        None,
        max_length=7000,
        pattern="^[^/]*(/[^/]*){5}$",
        description="the next page: the cursor `after` of this page",
    )


class Controls(BaseModel):
    """Pauses and limits, sorted by tenant, queue, kind, key, group and per."""

    controls: list[Control]
    after: str | None = Field(description="the cursor of the next page, if there is one")


class HoldFilter(StrictModel):
    """The waiting groups to list."""

    limit: int = Field(100, ge=1, le=MAX_LISTED, description="the maximum number of groups")


class Hold(BaseModel):
    """A group of which no job starts, because a handler raised RetryAfter or a delivery's answer had a Retry-After."""

    queue: str
    group: str
    tenant: str
    held_until: datetime


class Holds(BaseModel):
    """Groups that wait, those that wait the longest first."""

    holds: list[Hold]


class ShareTarget(StrictModel):
    """A tenant, and the queue if its weight is of one."""

    tenant: str = Field(max_length=100, description="the tenant; empty for jobs without one")
    queue: str = Field("", max_length=100, description="only in this queue")


class ShareRequest(ShareTarget):
    """The weight of a tenant among those that share a queue."""

    weight: Annotated[StrictInt, Field(ge=1, le=HEAVIEST)] = Field(description="its part of the offers")


class Share(BaseModel):
    """The weight of a tenant, in a queue or wherever it has no other. The default is 1."""

    tenant: str
    queue: str
    weight: int


class ShareFilter(StrictModel):
    """The weights to list."""

    limit: int = Field(100, ge=1, le=MAX_LISTED, description="the maximum number of weights")
    after: str | None = Field(
        None,
        max_length=700,
        pattern="^[^/]*/[^/]*$",
        description="the next page: the cursor `after` of this page",
    )


class Shares(BaseModel):
    """Weights of tenants, sorted by tenant and queue."""

    shares: list[Share]
    after: str | None = Field(description="the cursor of the next page, if there is one")


class EndedControl(BaseModel):
    """Whether a pause or limit existed."""

    ended: bool


CONTROL = {
    "queue": "mail",
    "kind": "",
    "key": "",
    "group": "",
    "tenant": "",
    "per": "",
    "paused": True,
    "limit": None,
    "rate": None,
    "period": None,
    "burst": None,
    "in_order": None,
    "on_dead": None,
    "break_after": None,
    "break_for": None,
    "until": None,
    "reason": "release",
    "changed": JOB["enqueued"],
    "busy": 2,
    "full": None,
    "free_at": None,
    "open": None,
}
CONTROLS = {"controls": [CONTROL], "after": None}
HOLDS = {"holds": [{"queue": "sync", "group": "customer-4711", "tenant": "", "held_until": JOB["enqueued"]}]}
SHARE = {"tenant": "acme", "queue": "mail", "weight": 3}
SHARES = {"shares": [SHARE], "after": None}
SHARE_REQUESTS: dict[str, Example] = {"a tenant": {"value": SHARE}}
SHARE_TARGETS: dict[str, Example] = {"a tenant": {"value": {"tenant": "acme", "queue": "mail"}}}
TARGETS: dict[str, Example] = {"a queue": {"value": {"queue": "mail"}}}
PAUSE_REQUESTS: dict[str, Example] = {
    "a queue": {"value": {"queue": "mail", "reason": "the provider is down"}},
    "all jobs": {"value": {"everything": True, "reason": "the database is being upgraded"}},
    "a kind, for some time": {"value": {"kind": "report", "until": "2026-01-31T08:00:00+01:00"}},
}
LIMIT_REQUESTS: dict[str, Example] = {
    "two of a kind": {"value": {"kind": "report", "limit": 2}},
    "each group, in order": {"value": {"queue": "orders", "per": "group", "limit": 1, "in_order": True}},
    "a rate": {"value": {"kind": "sync", "per": "tenant", "rate": 100, "period": "PT1M", "burst": 10}},
}
UNBLOCK_REQUESTS: dict[str, Example] = {"a group": {"value": {"group": "customer-4711", "queue": "orders"}}}
