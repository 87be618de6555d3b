"""Retention: how long finished jobs, attempts and events are stored."""

from dataclasses import fields
from datetime import timedelta
from typing import Annotated, Literal

from fastapi.openapi.models import Example
from pydantic import BaseModel, Field, PlainValidator, StrictBool, WithJsonSchema

from minutehand.functions.api.schemas.common import StrictModel, parse_duration
from minutehand.operations import retention as operations

Seconds = float | Literal["forever"] | None


def parse_period(value: object) -> timedelta | None:
    """Parse a duration or `forever`; null is the default of all queues."""
    try:
        return operations.FOREVER if value == "forever" else parse_duration(value)
    except ValueError:
        raise ValueError('must be "forever", seconds, or an ISO 8601 duration such as P30D') from None


Period = Annotated[
    timedelta | None,
    PlainValidator(parse_period),
    WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "string"}, {"type": "null"}]}),
]


class RetentionRequest(StrictModel):
    """The retention of a queue. Null or omitted: the default of all queues, where it means forever."""

    queue: str | None = Field(None, description="the queue; null for the default of all queues")
    done: Period = Field(None, description="done jobs")
    dead: Period = Field(None, description="dead jobs")
    expired: Period = Field(None, description="expired jobs")
    cancelled: Period = Field(None, description="cancelled jobs")
    attempts: Period = Field(None, description="attempts")
    events: Period = Field(None, description="stored events")
    keep_until_archived: StrictBool | None = Field(
        None, description="for the whole database: drop nothing that is not archived; null for no change"
    )

    def to_retention(self) -> operations.Retention:
        """Return the library's retention."""
        return operations.Retention(
            **{field.name: getattr(self, field.name) for field in fields(operations.Retention)}
        )


class QueueRetention(BaseModel):
    """The retention of a queue in seconds. Null: the default of all queues, where it means forever."""

    queue: str | None
    done: Seconds
    dead: Seconds
    expired: Seconds
    cancelled: Seconds
    attempts: Seconds
    events: Seconds


class Retentions(BaseModel):
    """All retention settings, the default of all queues first."""

    retention: list[QueueRetention]
    keep_until_archived: bool


DEFAULT = {
    "queue": None,
    "done": 86400.0,
    "dead": 604800.0,
    "expired": 86400.0,
    "cancelled": 86400.0,
    "attempts": 604800.0,
    "events": None,
}
RETENTIONS = {"retention": [DEFAULT], "keep_until_archived": False}
RETENTION_REQUESTS: dict[str, Example] = {
    "default of all queues": {
        "value": {"done": "P1D", "dead": "P7D", "expired": "P1D", "cancelled": "P1D", "attempts": "P7D"}
    },
    "one queue": {"value": {"queue": "billing", "done": "forever", "dead": "forever"}},
}
