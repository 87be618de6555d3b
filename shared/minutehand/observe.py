"""Observe: whatever happens is one typed event, for logs, metrics, hooks and sinks: facts, never a payload."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, get_args
from uuid import UUID, uuid4

from minutehand.keys import key_text

if TYPE_CHECKING:  # who tells is imported by nobody who is told
    from minutehand.database import Record
    from minutehand.enqueue import Enqueued, NewJob
    from minutehand.finish import Finish
    from minutehand.job import Job
    from minutehand.offer import Offer

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


Observer = Callable[[Event], None]


def enqueued(new: "NewJob", became: "Enqueued") -> Event:
    """Tell what became of a job that was enqueued: created, replaced, ignored."""
    facts = {"outcome": became.outcome, "visible": became.visible}
    return Event(
        name="enqueued", job=became.id, queue=new.queue, kind=new.kind, key=key_text(new.key),
        tenant=new.tenant or "", facts=facts,
    )  # fmt: skip


def offered(offer: "Offer") -> Event:
    """Tell that a worker was invited to a job."""
    return Event(
        name="offered",
        job=offer.id,
        queue=offer.queue,
        kind=offer.kind,
        tenant=offer.tenant,
    )


def claimed(job: "Job") -> Event:
    """Tell that a worker has begun."""
    return of(job, "claimed", lateness_ms=_ms(job.lateness))


def finished(job: "Job", finish: "Finish", ran_ms: int) -> Event:
    """Tell how an attempt ended."""
    facts: dict[str, Any] = {"ran_ms": ran_ms}
    if finish.visible is not None:
        facts["visible"] = finish.visible.isoformat()
    if finish.error is not None:
        facts["error_type"] = finish.error["type"]  # not its message, which may quote a payload
    if finish.next is not None:
        facts["next"] = str(finish.next)
    return of(job, "retried" if finish.ending == "retrying" else finish.ending, **facts)


def of(job: "Job", name: Name, **facts: Any) -> Event:
    """Tell something of a claimed job."""
    return Event(
        name=name, job=job.id, queue=job.queue, kind=job.kind, key=job.key, attempt=job.attempt,
        max_attempts=job.max_attempts, tenant=job.tenant, facts=facts,
    )  # fmt: skip


def row(name: Name, record: "Record", **facts: Any) -> Event:
    """Tell something of a row, by what a statement returned of it: at least its id."""
    known: Mapping[str, Any] = {name: record.get(name) for name in ("queue", "kind", "key", "max_attempts")}
    attempt, tenant = record.get("attempts"), record.get("tenant") or ""
    return Event(name=name, job=record["id"], attempt=attempt, tenant=tenant, facts=facts, **known)


def halted(queue: str, error: BaseException) -> Event:
    """Tell that a resident worker stops, since no further attempt would do better."""
    return Event(name="halted", queue=queue, facts={"error_type": type(error).__name__})


def nobody(_event: Event) -> None:
    """Tell nobody."""


def _ms(duration: timedelta) -> int:
    return round(duration.total_seconds() * 1000)


def _plain(value: object) -> Any:
    match value:
        case UUID():
            return str(value)
        case datetime():
            return value.astimezone(UTC).isoformat()
        case timedelta():
            return value.total_seconds()
    return value
