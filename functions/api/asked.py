"""Asked: what callers may ask of the history and of the counts, and say of how long things are kept."""

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import Field, PlainValidator, StrictBool, WithJsonSchema

from minutehand.operations.retention import FOREVER
from minutehand.queries.statistics import By, Each
from models import Moment, Said, read_duration


def read_keep(value: object) -> timedelta | None:
    """Return how long something is kept: a duration, `forever`, or null for what every queue does."""
    try:
        return FOREVER if value == "forever" else read_duration(value)
    except ValueError:
        raise ValueError('it is "forever", seconds, or ISO 8601 as P30D') from None


Keep = Annotated[
    timedelta | None,
    PlainValidator(read_keep),
    WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "string"}, {"type": "null"}]}),
]


class KeyOf(Said):
    """Whose key it is, and whether to tell what the job carries."""

    include: Literal["payload"] | None = Field(
        None, description="tell payload, headers, result and trace, too"
    )
    tenant: str = Field("", description="whose job it is, where there are tenants")


class Which(Said):
    """Which jobs are counted."""

    queue: str | None = Field(None, description="those of this queue")
    kind: str | None = Field(None, description="those of this kind")


class Counted(Which):
    """Since when finished jobs are counted, and by what."""

    since: Moment = Field(None, description="finished at this moment or later; 24 hours ago unless said")
    by: Each = Field("queue", description="count each kind of a queue for itself")


class Window(Which):
    """What is counted over time."""

    since: Moment = Field(None, description="from this moment on; 24 hours before `until` unless said")
    until: Moment = Field(None, description="before this moment; now unless said")


class Spreads(Window):
    """Whose durations are told."""

    by: Each = Field("queue", description="tell each kind of a queue for itself")


class Bins(Window):
    """How a histogram is divided."""

    by: By = Field(
        "hour", description="hours, at most 100 days of them; or days, 7 unless said, at most 3700"
    )
    zone: str = Field("UTC", description="the time zone whose hours or days they are, as Europe/Berlin")
    each: Each | None = Field(None, description="a histogram for each queue, or for each kind")


class Zone(Said):
    """Whose midnight it is."""

    zone: str = Field("UTC", description="a time zone, as Europe/Berlin")


class Retention(Said):
    """How long a queue's history is kept; what is left out or null is as for every queue, and there for ever."""

    queue: str | None = Field(
        None, description="this queue; without it, every queue that has no word of its own"
    )
    done: Keep = Field(None, description="jobs that went well")
    dead: Keep = Field(None, description="jobs that are dead")
    cancelled: Keep = Field(None, description="jobs that were cancelled")
    attempts: Keep = Field(None, description="the attempts at its jobs")
    events: Keep = Field(None, description="the events of its jobs, where they are kept")
    keep_until_archived: StrictBool | None = Field(
        None,
        description="whether nothing is dropped before it is archived: for the whole database, as it is if null",
    )
