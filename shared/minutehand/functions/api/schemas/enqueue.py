"""Enqueue: the options of a job, and the results of one job and of a batch."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi.openapi.models import Example
from pydantic import (
    BaseModel,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from minutehand.functions.api.schemas.common import BATCH_LIMIT, Duration, RetryOptions, StrictModel, Time
from minutehand.functions.api.schemas.jobs import JOB
from minutehand.functions.api.schemas.on_dead import OnDead, converted
from minutehand.functions.api.schemas.problems import Problem
from minutehand.model.after import AfterFailure
from minutehand.model.new_job import NewJob, OnConflict, UniqueWhile
from minutehand.model.rules import sentence

ON_CONFLICT = "what to do if the key already has an upcoming job; a running job is never changed"


class JobOptions(StrictModel):
    """A job to enqueue; omitted and null options have the defaults of the kind, then those of the table."""

    kind: str = Field(description=f"the name of its handler: {sentence('kind_is_a_name')}")
    payload: Any = Field(
        None, description="any JSON, stored as it is sent; at most 256 KiB unless configured otherwise"
    )
    queue: str | None = Field(None, description=sentence("queue_is_a_name"))
    key: str | StrictInt | StrictFloat | list[str | StrictInt | StrictFloat] | None = Field(
        None, description=f"identifies one upcoming job of the queue: {sentence('key_fits')}"
    )
    group: str | StrictInt | StrictFloat | list[str | StrictInt | StrictFloat] | None = Field(
        None,
        description=f"its jobs run one at a time, unless a limit per group allows more: {sentence('group_fits')}",
    )
    run_at: Time = Field(None, description="when to run; a time in the past means now")
    delay: Duration = Field(
        None, description="from now, instead of run_at: seconds, or ISO 8601 such as PT90S or P3D"
    )
    priority: StrictInt | None = Field(None, description=sentence("priority_is_0_to_9"))
    max_attempts: StrictInt | None = Field(None, description=sentence("max_attempts_is_at_least_1"))
    retry: RetryOptions | None = Field(None, description=sentence("retry_is_a_strategy"))
    timeout: Duration = Field(None, description=sentence("timeout_is_positive"))
    headers: dict[str, str] | None = Field(None, description=sentence("headers_are_strings"))
    every: str | None = Field(None, description=f"the recurrence: {sentence('every_recurs')}")
    zone: str | None = Field(None, description=sentence("zone_is_known"))
    personal: StrictBool | None = Field(None, description="delete the payload when the job is finished")
    tenant: str | None = Field(None, description=sentence("tenant_is_a_name"))
    on_conflict: OnConflict | None = Field(None, description=ON_CONFLICT)
    unique_while: UniqueWhile | None = Field(
        None, description="how long the key is taken: while a job is upcoming, or also while one is running"
    )
    unique_for: Duration = Field(None, description="the key is taken for this time, whatever the outcome")
    debounce: Duration = Field(None, description="wait until no job was enqueued with the key for this time")
    debounce_max: Duration = Field(None, description="the longest total wait of debounce")
    throttle: Duration = Field(None, description="run at least this long after the previous job of the key")
    expires: Duration = Field(
        None, description="the job expires if it has not started this long after run_at"
    )
    on_dead: str | OnDead | None = Field(None, description="a kind or a job, created if this job dies")
    batch: UUID | None = Field(None, description="the id of the batch that the job belongs to")
    after: list[UUID] | None = Field(None, description="the ids of the jobs that must end before it")
    after_failure: AfterFailure | None = Field(
        None, description="what to do if one of them does not succeed; `cancel` by default"
    )

    def to_job(self) -> NewJob:
        """Return the library's job."""
        return NewJob(**{name: getattr(self, name) for name in JobOptions.model_fields} | converted(self))


class EnqueueRequest(JobOptions):
    """A job to enqueue."""

    on_conflict: OnConflict = Field("replace", description=ON_CONFLICT)


@dataclass(frozen=True)
class InvalidItem:
    """An item of a batch that is not a valid job, with pydantic's findings."""

    faults: list[Any]


def _validate_item(value: Any, validate: ValidatorFunctionWrapHandler) -> Any:
    try:
        return validate(value)
    except ValidationError as error:
        return InvalidItem(error.errors(include_url=False, include_input=False))


class BatchRequest(StrictModel):
    """Jobs to enqueue together; a rejected job does not affect the others."""

    jobs: list[Annotated[JobOptions, WrapValidator(_validate_item)]] = Field(
        min_length=1, max_length=BATCH_LIMIT
    )
    on_conflict: OnConflict = Field("replace", description=ON_CONFLICT)


class EnqueueResult(BaseModel):
    """The outcome: a job was created, it replaced or was merged into the key's upcoming job, or it was ignored."""

    id: UUID = Field(description="the job that will run")
    outcome: Literal["created", "replaced", "merged", "ignored"]
    visible: datetime = Field(description="the time from which it may run")


class BatchItem(BaseModel):
    """The outcome of one job of a batch."""

    ordinal: int = Field(description="its position in the batch, from 0")
    outcome: Literal["created", "replaced", "merged", "ignored", "rejected"]
    id: UUID | None = Field(None, description="the job that will run; null if it was rejected")
    visible: datetime | None = None
    problem: Problem | None = Field(None, description="why it was rejected")


class BatchResult(BaseModel):
    """The outcomes of a batch: their counts, and each item in order."""

    created: int
    replaced: int
    merged: int
    ignored: int
    rejected: int
    items: list[BatchItem]


RESULT = {"id": JOB["id"], "outcome": "created", "visible": JOB["visible"]}
BROKEN_RULE = {
    "type": "urn:minutehand:problem:invalid",
    "title": "The request breaks a rule",
    "status": 422,
    "detail": sentence("delay_is_not_negative"),
    "rule": "delay_is_not_negative",
}
COUNTS = {"created": 1, "replaced": 0, "merged": 0, "ignored": 0}
CREATED_ITEM = {"ordinal": 0, **RESULT}
REJECTED_ITEM = {"ordinal": 1, "outcome": "rejected", "problem": BROKEN_RULE}
ALL_ENQUEUED: dict[str, Any] = {**COUNTS, "rejected": 0, "items": [CREATED_ITEM]}
SOME_REJECTED: dict[str, Any] = {**COUNTS, "rejected": 1, "items": [CREATED_ITEM, REJECTED_ITEM]}
WELCOME = {"kind": "welcome", "payload": {"email": "ada@example.com"}, "run_at": "2026-01-31T08:00:00+01:00"}
REMIND = {"kind": "http", "payload": {"url": "https://example.com/remind"}, "delay": "P3D", "max_attempts": 3}
REPORT = {"kind": "report", "key": "report", "every": "0 8 * * mon", "zone": "Europe/Berlin"}
ALL_OPTIONS = {
    **REMIND,
    "queue": "slow",
    "key": ["remind", 17],
    "group": "customer-4711",
    "unique_while": "running",
    "priority": 9,
    "retry": {"strategy": "exponential", "min": 10, "max": "PT1H", "factor": 3.0, "jitter": True},
    "timeout": 30,
    "expires": "P1D",
    "on_dead": {"kind": "alert", "queue": "ops"},
    "headers": {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},
}
INDEX = {
    "kind": "index",
    "payload": [4711],
    "key": "index",
    "on_conflict": "merge",
    "debounce": 10,
    "debounce_max": "PT5M",
}
ENQUEUE_REQUESTS: dict[str, Example] = {
    "at a given time": {"value": {**WELCOME, "key": "welcome/ada", "on_conflict": "replace"}},
    "after a delay": {"value": REMIND},
    "every Monday": {"value": REPORT},
    "with many options": {"value": ALL_OPTIONS},
}
BATCH_REQUESTS: dict[str, Example] = {
    "three jobs": {"value": {"jobs": [WELCOME, REMIND, INDEX], "on_conflict": "ignore"}}
}
