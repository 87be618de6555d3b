"""Orders: what people may ask to be done by hand, and the shapes of what they are told."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi.openapi.models import Example
from pydantic import BaseModel, Field, StrictBool, StrictFloat, StrictInt

import told
from minutehand.model.row import State
from minutehand.model.rules import sentence
from models import MOST_AT_ONCE, Duration, Moment, Retry, Said
from openapi import COMMON, JOB, LOCATION, WITH_BODY, _says

Ids = Annotated[list[UUID], Field(min_length=1, max_length=MOST_AT_ONCE)]
Cap = Annotated[StrictInt, Field(ge=1, le=10_000)]


class Edit(Said):
    """What to change of a job that has not begun: what is left out stays, null takes headers, retry or timeout away."""

    payload: Any = Field(None, description="any JSON")
    headers: dict[str, str] | None = Field(None, description=sentence("headers_are_strings"))
    priority: StrictInt = Field(5, description=sentence("priority_is_0_to_9"))
    max_attempts: StrictInt = Field(8, description=sentence("max_attempts_is_at_least_1"))
    retry: Retry | None = Field(None, description=sentence("retry_is_a_strategy"))
    timeout: Duration = Field(None, description=sentence("timeout_is_positive"))

    def said(self) -> dict[str, Any]:
        """Return what was said, as the library's."""
        fields = {name: getattr(self, name) for name in self.model_fields_set}
        return fields | ({"retry": self.retry and self.retry.to_retry()} if "retry" in fields else {})


class Replay(Said):
    """How a clone of a finished job is run."""

    max_attempts: StrictInt | None = Field(
        default=1, description="its attempts; null for as many as the job had"
    )
    suffix: str = Field(
        default="", max_length=1000, description="what to add to its key, where that has an upcoming job"
    )


class Changes(Said):
    """The same change to many jobs, each by the rules of one."""

    verb: Literal["cancel", "promote", "reschedule", "retry", "replay", "remove"]
    ids: Ids
    reason: Annotated[str, Field(max_length=1000)] = Field("on request", description="of cancel")
    running: StrictBool = Field(False, description="of cancel: running jobs, too, at their next check")
    run_at: Moment = Field(None, description="of reschedule: one in the past means now")
    delay: Duration = Field(None, description="of reschedule: seconds, or ISO 8601")


class Named(Said):
    """What is paused or limited: a queue, a kind, a key or a tenant, or several of them together."""

    queue: str = Field("", max_length=100, description="the jobs of this queue")
    kind: str = Field("", max_length=100, description="the jobs of this kind")
    key: str = Field("", max_length=1024, description="the jobs with this key")
    tenant: str = Field("", max_length=100, description="the jobs of this tenant")


class Pause(Named):
    """What to pause, and for how long."""

    until: Moment = Field(None, description="when it ends by itself")
    why: str | None = Field(None, max_length=1000)


class Limit(Named):
    """How many of what may be offered or running at once."""

    most: Annotated[StrictInt, Field(ge=0, lt=2**31)]
    why: str | None = Field(None, max_length=1000)


class Finished(Said):
    """Which finished jobs are meant."""

    queue: str | None = Field(None, description="those of this queue")
    kind: str | None = Field(None, description="those of this kind")
    since: Moment = Field(None, description="finished at this moment or later")
    before: Moment = Field(None, description="finished before this moment")
    most: Cap = Field(1000, description="at most so many; ask again to go on")


class Redrive(Finished):
    """Which of the dead come back, and how many of them a minute."""

    per_minute: Annotated[StrictInt | StrictFloat, Field(ge=0.001, le=1_000_000)]


class Reprocess(Finished):
    """Which finished jobs are run again, and over what time."""

    state: list[Literal["done", "dead", "cancelled"]] = Field(["done"], min_length=1)
    older_than: str | None = Field(None, max_length=200, description="finished by code of an older version")
    other_than: str | None = Field(None, max_length=200, description="finished by code of another version")
    window: Duration = Field(None, description="spread over that time: seconds, or ISO 8601")
    suffix: str = Field("", max_length=1000, description="what to add to their keys")


class Drop(Said):
    """That a queue's jobs are to be deleted, in so many words."""

    confirm: str = Field(description="the name of the queue")


class Trail(Said):
    """Which lines of the audit trail to tell."""

    job: UUID | None = Field(None, description="what was done to this job")
    who: str | None = Field(None, description="what this one did")
    verb: str | None = Field(None, description="cancel, pause, edit ...")
    before: UUID | None = Field(None, description="go on: the last line of the page before this one")
    limit: Annotated[int, Field(ge=1, le=1000)] = 50


class Became(BaseModel):
    """What became of one job."""

    id: UUID
    outcome: Literal["changed", "asked", "refused", "absent"]
    state: State | None = Field(None, description="the state in which it cannot be changed so")
    why: str | None = None
    new: UUID | None = Field(None, description="the job that a replay made")


class AllBecame(BaseModel):
    """What became of many jobs, counted and one by one."""

    changed: int
    asked: int
    refused: int
    absent: int
    jobs: list[Became]


class Control(BaseModel):
    """What is paused or limited; an empty name is any."""

    queue: str
    kind: str
    key: str
    tenant: str
    paused: bool
    most: int | None
    until: datetime | None
    why: str | None
    changed: datetime
    busy: int | None = Field(None, description="how many of them are offered or running")


class Controls(BaseModel):
    """All that is paused or limited now."""

    controls: list[Control]


class Ended(BaseModel):
    """Whether there was anything to end."""

    ended: bool


class Dropped(BaseModel):
    """How many jobs were deleted."""

    dropped: int


class Line(BaseModel):
    """Something that was done by hand."""

    id: UUID
    at: datetime
    tenant: str
    who: str
    verb: str
    job: UUID | None
    facts: dict[str, Any]


class Lines(BaseModel):
    """A page of the audit trail, the latest first."""

    audit: list[Line]
    before: UUID | None = Field(description="the cursor of the next page, if there may be one")


CONTROL = {
    "queue": "mail", "kind": "", "key": "", "tenant": "", "paused": True, "most": None, "until": None,
    "why": "release", "changed": JOB["enqueued"], "busy": 2,
}  # fmt: skip
BECAME = {
    "changed": 1, "asked": 0, "refused": 1, "absent": 0,
    "jobs": [
        {"id": JOB["id"], "outcome": "changed"},
        {"id": JOB["id"], "outcome": "refused", "state": "running", "why": "the job is running"},
    ],
}  # fmt: skip
LINES = {
    "audit": [{
        "id": JOB["id"], "at": JOB["enqueued"], "tenant": "", "who": "ada", "verb": "cancel", "job": JOB["id"],
        "facts": {"reason": "the order was withdrawn"},
    }],
    "before": None,
}  # fmt: skip
TOLD = {**JOB, "retry": None, "timeout": None}
FILTERS: dict[str, Example] = {
    "those of one kind": {"value": {"kind": "welcome", "older_than": "1.10", "window": "PT1H"}}
}
RATE: dict[str, Example] = {"one a second": {"value": {"queue": "mail", "per_minute": 60}}}
EDITS: dict[str, Example] = {
    "another text": {"value": {"payload": {"email": "bob@example.com"}, "priority": 9}}
}
CLONE: dict[str, Example] = {"beside its key's job": {"value": {"suffix": "/again", "max_attempts": None}}}
NAMED: dict[str, Example] = {"a queue": {"value": {"queue": "mail"}}}
PAUSE: dict[str, Example] = {
    "a queue": {"value": {"queue": "mail", "why": "the provider is down"}},
    "a kind, for a while": {"value": {"kind": "report", "until": "2026-01-31T08:00:00+01:00"}},
}
LIMIT: dict[str, Example] = {"two of a kind": {"value": {"kind": "report", "most": 2}}}
DROP: dict[str, Example] = {"all of a queue": {"value": {"confirm": "mail"}}}
MANY: dict[str, Example] = {"two": {"value": {"verb": "cancel", "ids": [JOB["id"]], "reason": "wrong text"}}}

EDIT = _says(200, "The job, edited", told.Job, TOLD, *WITH_BODY, 404, 409)
REPLAY = _says(201, "The clone", told.Job, TOLD, *WITH_BODY, 404, 409, headers=LOCATION)
REMOVE = _says(200, "What was removed", Became, {"id": JOB["id"], "outcome": "changed"}, *COMMON, 404, 409)
CHANGES = _says(200, "What became of each", AllBecame, BECAME, *WITH_BODY)
CONTROLS = _says(200, "What is paused or limited", Controls, {"controls": [CONTROL]}, *COMMON)
CONTROLLED = _says(200, "As it is now", Control, {**CONTROL, "busy": None}, *WITH_BODY)
ENDED = _says(200, "Whether there was any", Ended, {"ended": True}, *WITH_BODY)
DROPPED = _says(200, "How many were deleted", Dropped, {"dropped": 12}, *WITH_BODY)
AUDIT = _says(200, "A page", Lines, LINES, *COMMON)
