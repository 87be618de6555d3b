"""Types that requests of several resources share. They check types only; the database checks the rules of jobs."""

import re
from datetime import datetime, timedelta
from typing import Annotated, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    StrictBool,
    StrictFloat,
    TypeAdapter,
    WithJsonSchema,
)

from minutehand.model.retry import Retry, Strategy

BATCH_LIMIT = 1000
MOMENT = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d([.]\d+)?([Zz]|[+-]\d\d:\d\d)")
# Years and months have no fixed length.
DURATION = re.compile(r"[+-]?P(?=.)(\d+W|(\d+D)?(T(?=.)(\d+H)?(\d+M)?(\d+([.]\d+)?S)?)?)")
_duration = TypeAdapter(timedelta)

Include = Literal["payload"]


class StrictModel(BaseModel):
    """A request that must not contain unknown fields."""

    model_config = ConfigDict(extra="forbid")


def parse_time(value: object) -> datetime | None:
    """Parse an RFC 3339 time with an offset. Numbers are rejected: they could be seconds or milliseconds."""
    if value is None:
        return None
    try:
        if isinstance(value, str) and MOMENT.fullmatch(value):
            return datetime.fromisoformat(value.upper())
    except ValueError:
        pass
    raise ValueError("must be an RFC 3339 time with an offset, such as 2026-01-31T08:00:00+01:00")


def parse_duration(value: object) -> timedelta | None:
    """Parse a duration in seconds or ISO 8601."""
    if value is None:
        return None
    try:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return timedelta(seconds=value)
        if isinstance(value, str) and DURATION.fullmatch(value):
            return _duration.validate_python(value)
    except (ValueError, OverflowError):
        pass
    raise ValueError(
        "must be seconds, or an ISO 8601 duration without years and months, such as 90, P3D or PT1H30M"
    )


Time = Annotated[
    datetime | None,
    PlainValidator(parse_time),
    WithJsonSchema({"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]}),
]
Duration = Annotated[
    timedelta | None,
    PlainValidator(parse_duration),
    WithJsonSchema(
        {"anyOf": [{"type": "number"}, {"type": "string", "format": "duration"}, {"type": "null"}]}
    ),
]


class RetryOptions(StrictModel):
    """How long a failed job waits; omitted fields have the defaults of `minutehand.Retry`."""

    strategy: Strategy = "exponential"
    min: Duration = Field(None, description="the first wait; 10 seconds by default")
    max: Duration = Field(None, description="the longest wait; an hour by default")
    factor: StrictFloat = Field(3.0, description="the growth of the wait per attempt")
    jitter: StrictBool = Field(True, description="wait a random time between zero and the computed wait")

    def to_retry(self) -> Retry:
        """Return the library's retry policy."""
        given = {name: getattr(self, name) for name in self.model_fields_set}
        return Retry(**{name: value for name, value in given.items() if value is not None})
