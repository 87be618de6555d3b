"""Jobs: one job, pages of them, and the changes that people make."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi.openapi.models import Example
from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt

from minutehand.functions.api.schemas.common import Duration, RetryOptions, StrictModel, Time
from minutehand.functions.api.schemas.job_filter import SearchFilter
from minutehand.functions.api.schemas.on_dead import OnDead, converted
from minutehand.model.after import AfterFailure
from minutehand.model.row import LISTED, Row, State, without_trace
from minutehand.model.rules import sentence
from minutehand.queries.jobs import MAX_PAGE

UNLISTED_FIELDS = ("retry", "timeout", "expires", "correlation_id", "after", "after_failure")
MASKED_FIELDS = ("payload", "headers", "result", "on_dead")


class JobFilter(SearchFilter):
    """The jobs to list."""

    limit: int = Field(50, description=f"jobs per page, 1 to {MAX_PAGE}")
    before: UUID | None = Field(None, description="the next page: the cursor `before` of this page")
    after: UUID | None = Field(None, description="the previous page: the cursor `after` of this page")
    page: Literal["first", "last"] = Field("first", description="the page to begin with, without a cursor")
    bounded: bool = Field(
        False,
        description="read at most 20,000 jobs for a page, whatever the filters; `stopped` says if it did",
    )
    total: bool = Field(False, description="count all matching jobs, which is slow if there are many")
    count: bool = Field(False, description="count matching jobs up to 10,000, among the newest ones")


class CancelRequest(StrictModel):
    """Options of cancel."""

    reason: Annotated[str, Field(max_length=1000, description="stored as the job's error")] = "on request"
    running: StrictBool = Field(default=False, description="ask a running job to stop at its next check")


class RescheduleRequest(StrictModel):
    """The new time: `run_at`, or `delay` from now."""

    run_at: Time = Field(None, description="a time in the past means now")
    delay: Duration = Field(None, description="seconds, or ISO 8601")


class ReplayRequest(StrictModel):
    """Options of the new job."""

    max_attempts: StrictInt | None = Field(default=1, description="null for as many as the original job had")
    suffix: str = Field(
        default="",
        max_length=1000,
        description="added to the key, in case the key already has an upcoming job",
    )


class EditRequest(StrictModel):
    """Changes: omitted fields stay as they are; null removes headers, retry, timeout, expires or on_dead."""

    payload: Any = Field(None, description="any JSON")
    headers: dict[str, str] | None = Field(None, description=sentence("headers_are_strings"))
    priority: StrictInt = Field(5, description=sentence("priority_is_0_to_9"))
    max_attempts: StrictInt = Field(8, description=sentence("max_attempts_is_at_least_1"))
    retry: RetryOptions | None = Field(None, description=sentence("retry_is_a_strategy"))
    timeout: Duration = Field(None, description=sentence("timeout_is_positive"))
    expires: Duration = Field(None, description=f"{sentence('expires_is_positive')}, from run_at")
    on_dead: str | OnDead | None = Field(None, description="a kind or a job, created if this job dies")

    def to_options(self) -> dict[str, Any]:
        """Return the given fields, as the library's options."""
        values = vars(self) | converted(self)
        return {name: values[name] for name in self.model_fields_set}


class JobError(BaseModel):
    """The latest error."""

    type: str
    message: str
    trace: str | None = Field(None, description="only with include=payload")
    stage: str | None = Field(
        None,
        description="of a job that is done: `result` if its result was not stored, `after` if its handler failed "
        "after its transaction",
    )


class Job(BaseModel):
    """A job. Optional fields are not listed; masked ones are only in `GET /jobs/{id}?include=payload`."""

    model_config = ConfigDict(extra="forbid")

    id: UUID
    queue: str
    kind: str
    state: State
    key: str | None
    group: str | None = Field(description="its jobs run one at a time, or as a limit per group declares")
    priority: int
    attempts: int = Field(description="the attempts that have started")
    max_attempts: int
    enqueued: datetime
    run_at: datetime = Field(description="when it was scheduled to run")
    visible: datetime = Field(
        description="when it may run next, 9999-12-30 while it waits for others; the end of a running job's lease"
    )
    offered: datetime | None = Field(description="when it was last offered to a worker")
    claimed: datetime | None = Field(description="when a worker last claimed it")
    deleted: datetime | None = Field(description="when it was finished")
    error: JobError | None
    tenant: str = Field(description="the tenant; empty if there are no tenants")
    version: str | None = Field(description="the version of the code that finished it")
    every: str | None = Field(description="the recurrence")
    zone: str | None = Field(description="the time zone of `every`")
    nominal: datetime | None = Field(description="the time of this occurrence")
    schedule: str | None = Field(description="the schedule that fired it")
    batch: UUID | None = Field(description="the batch that it belongs to")
    cancelling: str | None = Field(description="the reason why a running job is to be cancelled")
    retry: dict[str, Any] | None = Field(None, description="durations in seconds; null for the default")
    timeout: float | None = Field(None, description="seconds")
    expires: float | None = Field(None, description="seconds after run_at until which it must have started")
    correlation_id: str | None = Field(
        None, description="the id of the request that enqueued it, as in the logs"
    )
    after: list[UUID] | None = Field(None, description="the jobs that it runs after")
    after_failure: AfterFailure | None = Field(None, description="what to do if one of them does not succeed")
    payload: Any = Field(None, description="only with include=payload")
    headers: dict[str, str] | None = Field(None, description="only with include=payload")
    result: Any = Field(None, description="only with include=payload")
    on_dead: dict[str, Any] | None = Field(None, description="only with include=payload")


class JobPage(BaseModel):
    """Jobs, the newest first."""

    jobs: list[Job]
    before: UUID | None = Field(description="the cursor of the next page, if there may be one")
    next: str | None = Field(description="the path of the next page, as in the Link header")
    after: UUID | None = Field(description="the cursor of the previous page, if there may be one")
    previous: str | None = Field(description="the path of the previous page, as in the Link header")
    total: int | None = Field(description="the number of matching jobs, if requested")
    place: int | None = Field(description="the number of matching jobs before this page, if requested")
    count: int | None = Field(None, description="the number of matching jobs, up to 10,000, if requested")
    count_more: bool | None = Field(None, description="whether there may be more than `count`")
    read: int | None = Field(None, description="the number of jobs that a search read for this page")
    stopped: bool = Field(False, description="the search read as many jobs as it may; `next` continues it")


def listed_job(row: Row) -> dict[str, Any]:
    """Return a job as in listings."""
    return {name: getattr(row, name) for name in LISTED} | {"error": without_trace(row.error)}


def full_job(row: Row, *, unmasked: bool = False) -> dict[str, Any]:
    """Return all fields of a job; payload, headers, result and trace only if unmasked."""
    job = listed_job(row) | {name: getattr(row, name) for name in UNLISTED_FIELDS}
    if unmasked:
        job |= {name: getattr(row, name) for name in MASKED_FIELDS} | {"error": row.error}
    return job


JOB: dict[str, Any] = dict.fromkeys(LISTED) | {
    "id": "0198a5b0-0000-7000-8000-000000000001",
    "queue": "default",
    "kind": "welcome",
    "state": "scheduled",
    "key": "welcome/ada",
    "priority": 5,
    "attempts": 0,
    "max_attempts": 8,
    "enqueued": "2026-01-30T12:00:00+00:00",
    "run_at": "2026-01-31T07:00:00+00:00",
    "visible": "2026-01-31T07:00:00+00:00",
    "tenant": "",
}
FULL_JOB = {
    **JOB,
    "retry": None,
    "timeout": None,
    "expires": None,
    "correlation_id": "5c1f7b0e",
    "after": None,
    "after_failure": None,
}
PAGE = {
    "jobs": [JOB],
    "before": JOB["id"],
    "next": f"/jobs?state=scheduled&limit=1&total=true&before={JOB['id']}",
    "after": None,
    "previous": None,
    "total": 12,
    "place": 0,
}
CANCEL_REQUESTS: dict[str, Example] = {
    "with a reason": {"value": {"reason": "the order was withdrawn"}},
}
RESCHEDULE_REQUESTS: dict[str, Example] = {
    "to a given time": {"value": {"run_at": "2026-01-31T08:00:00+01:00"}},
    "from now": {"value": {"delay": "PT1H30M"}},
}
REPLAY_REQUESTS: dict[str, Example] = {
    "with another key": {"value": {"suffix": "/again", "max_attempts": None}},
}
EDIT_REQUESTS: dict[str, Example] = {
    "another payload": {"value": {"payload": {"email": "bob@example.com"}, "priority": 9}}
}
