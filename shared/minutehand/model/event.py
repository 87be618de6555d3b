"""Event: a typed record of something that happened, for hooks and sinks. It never contains a payload."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, get_args
from uuid import UUID, uuid4

from minutehand.model.set_at_once import ON_READ, set_at_once

Name = Literal[
    "enqueued",
    "offered",
    "claimed",
    "extended",
    "done",
    "retried",
    "snoozed",
    "released",
    "dead",
    "expired",
    "cancelled",
    "superseded",
    "lost",
    "promoted",
    "rescheduled",
    "edited",
    "paused",
    "resumed",
    "halted",
    "fired",
]
NAMES: tuple[Name, ...] = get_args(Name)


def _now() -> datetime:
    return datetime.now(UTC)


@set_at_once
@dataclass(frozen=True, kw_only=True)
class Event:
    """Something that happened to a job, or (paused, resumed, halted, fired) to a queue or schedule.

    `at` is the time by the clock of the emitting process. `id` is the same in every hook and sink. `facts` has further
    details, such as durations, times, the type of an error and the actor, but never a payload or result. `cause` is the
    error of an attempt in one line, without values of the job; hooks and log lines have it, sinks do not.
    """

    name: Name
    job: UUID | None = None
    queue: str | None = None
    kind: str | None = None
    key: str | None = None
    attempt: int | None = None
    max_attempts: int | None = None
    tenant: str = ""
    at: datetime = field(default_factory=_now)
    # A random number takes longer than the rest of an event, and most hooks do not read it.
    id: UUID = field(default_factory=uuid4, metadata=ON_READ)
    facts: Mapping[str, Any] = field(default_factory=dict)
    cause: str = field(default="", repr=False)

    def to_json(self) -> dict[str, Any]:
        """Return the event as JSON for sinks, without empty fields."""
        values = {
            name: getattr(self, name) for name in self.__dataclass_fields__ if name not in ("facts", "cause")
        }
        plain = {name: _plain(value) for name, value in values.items() if value is not None and value != ""}
        return plain | {"facts": {name: _plain(value) for name, value in self.facts.items()}}


Hook = Callable[[Event], None]


def ignore(_event: Event) -> None:
    """Do nothing: the hook of workers without one."""


def _plain(value: object) -> Any:
    match value:
        case UUID():
            return str(value)
        case datetime():
            return value.astimezone(UTC).isoformat()
        case timedelta():
            return value.total_seconds()
    return value
