"""Event: one typed record of something that happened, for logs, metrics, hooks and sinks. It holds no payload."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, get_args
from uuid import UUID, uuid4

Name = Literal[
    "enqueued", "offered", "claimed", "extended", "done", "retried", "snoozed", "released", "dead", "cancelled",
    "superseded", "lost", "promoted", "rescheduled", "edited", "paused", "resumed", "halted", "fired",
]  # fmt: skip
NAMES: tuple[Name, ...] = get_args(Name)


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, kw_only=True)
class Event:
    """Something that happened, to a job or (paused, resumed, halted, fired) to what jobs come from.

    `at` is the moment by the clock of the process that tells, `id` the same wherever the event is sent. `facts` are
    what is known beside: milliseconds, moments, an error's type, who did it by hand; neither payload nor result.
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
    id: UUID = field(default_factory=uuid4)
    facts: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the event as it is sent: what is not known is left out."""
        told = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "facts"}
        plain = {name: _plain(value) for name, value in told.items() if value is not None and value != ""}
        return plain | {"facts": {name: _plain(value) for name, value in self.facts.items()}}


Hook = Callable[[Event], None]


def _plain(value: object) -> Any:
    match value:
        case UUID():
            return str(value)
        case datetime():
            return value.astimezone(UTC).isoformat()
        case timedelta():
            return value.total_seconds()
    return value
