"""Models: what callers may say of a job. Types are checked here; what a job may be is the database's to say."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    StrictBool,
    StrictFloat,
    StrictInt,
    TypeAdapter,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
)

import minutehand
from minutehand.model.new_job import OnConflict, UniqueWhile
from minutehand.model.retry import Strategy
from minutehand.model.row import State
from minutehand.model.rules import sentence
from minutehand.queries.jobs import MAX_PAGE

MOST_AT_ONCE = 1000
MOMENT = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d([.]\d+)?([Zz]|[+-]\d\d:\d\d)")
# No years or months: they have no length of their own.
DURATION = re.compile(r"[+-]?P(?=.)(\d+W|(\d+D)?(T(?=.)(\d+H)?(\d+M)?(\d+([.]\d+)?S)?)?)")
_duration = TypeAdapter(timedelta)


def read_moment(value: object) -> datetime | None:
    """Return an RFC 3339 moment; refuse one without an offset, and numbers, which could be seconds or milliseconds."""
    if value is None:
        return None
    try:
        if isinstance(value, str) and MOMENT.fullmatch(value):
            return datetime.fromisoformat(value.upper())
    except ValueError:
        pass
    raise ValueError("a moment is RFC 3339 with an offset, as 2026-01-31T08:00:00+01:00")


def read_duration(value: object) -> timedelta | None:
    """Return a duration said in seconds or as ISO 8601."""
    if value is None:
        return None
    try:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return timedelta(seconds=value)
        if isinstance(value, str) and DURATION.fullmatch(value):
            return _duration.validate_python(value)
    except (ValueError, OverflowError):
        pass
    raise ValueError("a duration is seconds, or weeks, days and less in ISO 8601, as 90, P3D or PT1H30M")


Moment = Annotated[
    datetime | None,
    PlainValidator(read_moment),
    WithJsonSchema({"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]}),
]
Duration = Annotated[
    timedelta | None,
    PlainValidator(read_duration),
    WithJsonSchema(
        {"anyOf": [{"type": "number"}, {"type": "string", "format": "duration"}, {"type": "null"}]}
    ),
]


class Said(BaseModel):
    """Something a caller says: a field that we do not know is refused, not dropped."""

    model_config = ConfigDict(extra="forbid")


class Retry(Said):
    """How long a failed job waits; what is left out is as in `minutehand.Retry`."""

    strategy: Strategy = "exponential"
    min: Duration = Field(None, description="wait at first; 10 seconds unless said")
    max: Duration = Field(None, description="wait at most; an hour unless said")
    factor: StrictFloat = Field(3.0, description="how fast the wait grows")
    jitter: StrictBool = Field(True, description="take a chance moment between zero and the wait")

    def to_retry(self) -> minutehand.Retry:
        """Return it as the library's."""
        said = {name: getattr(self, name) for name in self.model_fields_set}
        return minutehand.Retry(**{name: value for name, value in said.items() if value is not None})


ON_CONFLICT = "what to do when the key has an upcoming job; a running one is never touched"


class NewJob(Said):
    """A job to enqueue; what is left out or null comes from its kind's defaults, then from the table's."""

    kind: str = Field(description=f"the name of its handler: {sentence('kind_is_a_name')}")
    payload: Any = Field(
        None, description="any JSON; what is stored is what was sent, 256 KiB unless set otherwise"
    )
    queue: str | None = Field(None, description=sentence("queue_is_a_name"))
    key: str | StrictInt | StrictFloat | list[str | StrictInt | StrictFloat] | None = Field(
        None, description=f"names one upcoming job of the queue: {sentence('key_fits')}"
    )
    run_at: Moment = Field(None, description="the moment to run; one in the past means now")
    delay: Duration = Field(
        None, description="from now, instead of run_at: seconds, or ISO 8601 as PT90S or P3D"
    )
    priority: StrictInt | None = Field(None, description=sentence("priority_is_0_to_9"))
    max_attempts: StrictInt | None = Field(None, description=sentence("max_attempts_is_at_least_1"))
    retry: Retry | None = Field(None, description=sentence("retry_is_a_strategy"))
    timeout: Duration = Field(None, description=sentence("timeout_is_positive"))
    headers: dict[str, str] | None = Field(None, description=sentence("headers_are_strings"))
    every: str | None = Field(None, description=f"it recurs: {sentence('every_recurs')}")
    zone: str | None = Field(None, description=sentence("zone_is_known"))
    personal: StrictBool | None = Field(None, description="its payload is cleared once it is finished")
    tenant: str | None = Field(None, description=sentence("tenant_is_a_name"))
    on_conflict: OnConflict | None = Field(None, description=ON_CONFLICT)
    unique_while: UniqueWhile | None = Field(
        None,
        description="how long the key is taken: while a job of it is upcoming, or also while one is running",
    )
    unique_for: Duration = Field(
        None, description="the key is taken for that long, whatever becomes of the job"
    )
    debounce: Duration = Field(None, description="it waits until nobody has enqueued it for that long")
    debounce_max: Duration = Field(None, description="but not for longer than that in all")
    throttle: Duration = Field(None, description="it waits until that long after the one before of its key")

    def to_job(self) -> minutehand.NewJob:
        """Return it as the library's."""
        said = {name: getattr(self, name) for name in NewJob.model_fields}
        return minutehand.NewJob(**said | {"retry": self.retry and self.retry.to_retry()})


class OneJob(NewJob):
    """A job to enqueue, and what to do if its key is taken."""

    on_conflict: OnConflict = Field("replace", description=ON_CONFLICT)


@dataclass(frozen=True)
class Malformed:
    """An item of a batch that is no job, and why."""

    faults: list[Any]


def _or_malformed(value: Any, read: ValidatorFunctionWrapHandler) -> Any:
    try:
        return read(value)
    except ValidationError as error:
        return Malformed(error.errors(include_url=False, include_input=False))


class Batch(Said):
    """Jobs to enqueue together; one that is refused does not hold up the others."""

    jobs: list[Annotated[NewJob, WrapValidator(_or_malformed)]] = Field(min_length=1, max_length=MOST_AT_ONCE)
    on_conflict: OnConflict = Field("replace", description=ON_CONFLICT)


class Cancel(Said):
    """Why a job is no longer wanted."""

    reason: Annotated[str, Field(max_length=1000)] = "on request"
    running: StrictBool = Field(default=False, description="if it runs, ask it to end at its next check")


class Reschedule(Said):
    """The moment a job is moved to: `run_at`, or `delay` from now."""

    run_at: Moment = Field(None, description="one in the past means now")
    delay: Duration = Field(None, description="seconds, or ISO 8601")


class Filters(Said):
    """Which jobs to list."""

    queue: str | None = Field(None, description="jobs of this queue")
    kind: str | None = Field(None, description="jobs of this kind")
    key: str | None = Field(None, description="jobs with this key, upcoming and finished")
    state: list[State] = Field([], description="jobs in one of these states; say it several times")
    limit: int = Field(50, description=f"how many to a page, 1 to {MAX_PAGE}")
    version: str | None = Field(None, description="jobs that this version of the code finished")
    since: Moment = Field(None, description="jobs that were enqueued at this moment or later")
    until: Moment = Field(None, description="jobs that were enqueued before this moment")
    finished_since: Moment = Field(None, description="jobs that were finished at this moment or later")
    finished_until: Moment = Field(None, description="jobs that were finished before this moment")
    before: UUID | None = Field(None, description="go on: the cursor `before` of the page before this one")
    after: UUID | None = Field(None, description="go back: the cursor `after` of the page after this one")
    page: Literal["first", "last"] = Field("first", description="without a cursor, the end at which to begin")
    total: bool = Field(False, description="count all that match, which takes as long as there are many")


Include = Literal["payload"]
