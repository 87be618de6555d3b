"""Invitation: the events of workers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from minutehand.errors import InvalidJobError
from minutehand.model.offer import Offer
from minutehand.model.queues import Queues


class EventError(ValueError):
    """A worker's event is neither `{"offers": [[id, ack], ...]}` nor `{"queue": name}` nor `{"queue": [name, ...]}`."""


@dataclass(frozen=True)
class Invited:
    """What a worker's event asks for: the offers of a queue, or the next job of `queues`.

    `queue` is empty if the event does not name the queue of its offers. `kinds` are patterns, with whether the worker
    serves such kinds.
    """

    offers: tuple[Offer, ...] = ()
    queue: str = ""
    kinds: Mapping[str, bool] = field(default_factory=dict)
    queues: Queues | None = None


def parse(event: dict[str, Any]) -> Invited:
    """Return what an event asks for; raise EventError if it is malformed."""
    match event:
        case {"offers": pairs}:
            return Invited(_offers(pairs), _queue(event.get("queue", "")), _kinds(event.get("kinds", {})))
        case {"queue": str() | [_, *_] as names}:
            return Invited(queues=_queues(names))
    raise EventError('event must be {"offers": [[id, ack], ...]}, {"queue": name} or {"queue": [name, ...]}')


def _queues(names: str | list[str]) -> Queues:
    try:
        return Queues.of(names)
    except InvalidJobError as error:
        raise EventError(str(error)) from None


def _queue(name: Any) -> str:
    if not isinstance(name, str):
        raise EventError(f"the queue of offers must be a string, got {type(name).__name__}")
    return name


def _kinds(kinds: Any) -> Mapping[str, bool]:
    if isinstance(kinds, dict) and all(isinstance(serves, bool) for serves in kinds.values()):
        return kinds
    raise EventError("kinds must be an object of patterns with true or false")


def _offers(pairs: Any) -> tuple[Offer, ...]:
    try:
        return tuple(Offer(UUID(job_id), UUID(ack)) for job_id, ack in pairs)
    except (TypeError, ValueError, AttributeError) as error:
        raise EventError(f"offers must be a list of [id, ack] pairs of UUIDs: {error}") from None
