"""Fan-out: invoke the worker of each chunk of offers asynchronously."""

import math
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from time import monotonic
from types import MappingProxyType
from typing import Any, Protocol

from minutehand.model.offer import Offer
from minutehand.model.worker_route import WorkerRoutes

THREADS = 32
MOST_OF_INVOCATION = 0.5
NO_PARTS: Mapping[str, float] = MappingProxyType({})


class Invoker(Protocol):
    """Starts workers: Lambda, or a pool of local processes."""

    def invoke(self, worker: str, event: dict[str, Any]) -> None:
        """Hand over an event without waiting for the work; raise if the event was not accepted."""


@dataclass(frozen=True)
class Invitation:
    """Offers of one queue, and the worker function to claim them. `kinds` are those that it serves, if not all."""

    worker: str
    queue: str
    offers: tuple[Offer, ...]
    kinds: Mapping[str, bool] = field(default_factory=dict)

    @property
    def event(self) -> dict[str, Any]:
        """The worker's event: `{"queue": ..., "offers": [[id, ack], ...]}`. It never contains a payload.

        If the worker does not serve all kinds of the queue, `kinds` are patterns, with whether it serves such kinds.
        """
        offers = [[str(offer.id), str(offer.ack)] for offer in self.offers]
        return {"queue": self.queue, "offers": offers} | ({"kinds": dict(self.kinds)} if self.kinds else {})


class Sendable(Protocol):
    """An event for a function: an invitation, or several that are forwarded."""

    @property
    def worker(self) -> str:
        """The function to invoke."""

    @property
    def offers(self) -> Sequence[Offer]:
        """The offers to withdraw if the event is refused."""

    @property
    def event(self) -> dict[str, Any]:
        """The event."""


@dataclass(frozen=True)
class Refusal:
    """An invitation that was not accepted, and the reason."""

    invitation: Sendable
    reason: str


@dataclass(frozen=True)
class FanOut:
    """The number of workers that were invoked, the refused events, and the number of forwarded invitations."""

    invoked: int
    refused: tuple[Refusal, ...] = ()
    forwarded: int = 0


def fan_out(invoker: Invoker, planned: Sequence[Sendable], until: float = math.inf) -> FanOut:
    """Invoke the workers in parallel. Invitations not sent by the monotonic second `until` count as refused."""
    if not planned:
        return FanOut(0)
    with ThreadPoolExecutor(min(THREADS, len(planned))) as pool:
        results = pool.map(lambda invitation: _invoke(invoker, invitation, until), planned)
        refused = tuple(filter(None, results))
    return FanOut(len(planned) - len(refused), refused)


def invitations(
    offers: Sequence[Offer], routes: WorkerRoutes, chunk: int = 1, parts: Mapping[str, float] = NO_PARTS
) -> list[Invitation]:
    """Group up to `chunk` offers that share worker and queue into an invitation.

    `parts` is which part of an invocation a job of a kind takes. The jobs of a chunk take up to half of it together,
    so that they end well inside their leases.
    """
    groups: dict[tuple[str, str], list[Offer]] = {}
    for offer in offers:
        groups.setdefault((routes.worker(offer.queue, offer.kind), offer.queue), []).append(offer)
    return [
        Invitation(worker, queue, tuple(each), kinds)
        for (worker, queue), offers in groups.items()
        for kinds in [routes.kinds(worker, queue)]
        for each in _chunks(offers, chunk, parts)
    ]


def _chunks(offers: Sequence[Offer], most: int, parts: Mapping[str, float]) -> Iterator[list[Offer]]:
    chunk: list[Offer] = []
    taken = 0.0
    for offer in offers:
        part = parts.get(offer.kind, 0.0)
        if offer.alone:
            yield [offer]
            continue
        if chunk and (len(chunk) == most or taken + part > MOST_OF_INVOCATION):
            yield chunk
            chunk, taken = [], 0.0
        chunk.append(offer)
        taken += part
    if chunk:
        yield chunk


def _invoke(invoker: Invoker, invitation: Sendable, until: float) -> Refusal | None:
    if monotonic() > until:
        return Refusal(invitation, "the tick ran out of time")
    try:
        invoker.invoke(invitation.worker, invitation.event)
    # Any error refuses this invitation only; the others go out.
    except Exception as error:
        return Refusal(invitation, f"{type(error).__name__}: {error}")
    return None
