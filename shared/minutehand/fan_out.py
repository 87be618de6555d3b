"""Fan-out: invoke the worker of each chunk of offers asynchronously."""

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Protocol

from minutehand.model.offer import Offer
from minutehand.model.worker_route import WorkerRoutes

THREADS = 32


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


@dataclass(frozen=True)
class Refusal:
    """An invitation that was not accepted, and the reason."""

    invitation: Invitation
    reason: str


@dataclass(frozen=True)
class FanOut:
    """The number of accepted invitations, and the refused ones."""

    invoked: int
    refused: tuple[Refusal, ...] = ()


def fan_out(
    invoker: Invoker, offers: Sequence[Offer], routes: WorkerRoutes, chunk: int = 1, until: float = math.inf
) -> FanOut:
    """Invoke a worker for every `chunk` offers that share worker and queue, in parallel.

    Invitations not sent by the monotonic second `until` count as refused.
    """
    planned = invitations(offers, routes, chunk)
    if not planned:
        return FanOut(0)
    with ThreadPoolExecutor(min(THREADS, len(planned))) as pool:
        results = pool.map(lambda invitation: _invoke(invoker, invitation, until), planned)
        refused = tuple(filter(None, results))
    return FanOut(len(planned) - len(refused), refused)


def invitations(offers: Sequence[Offer], routes: WorkerRoutes, chunk: int) -> list[Invitation]:
    """Group offers into invitations."""
    groups: dict[tuple[str, str], list[Offer]] = {}
    for offer in offers:
        groups.setdefault((routes.worker(offer.queue, offer.kind), offer.queue), []).append(offer)
    return [
        Invitation(worker, queue, tuple(offers[start : start + chunk]), kinds)
        for (worker, queue), offers in groups.items()
        for kinds in [routes.kinds(worker, queue)]
        for start in range(0, len(offers), chunk)
    ]


def _invoke(invoker: Invoker, invitation: Invitation, until: float) -> Refusal | None:
    if monotonic() > until:
        return Refusal(invitation, "the tick ran out of time")
    try:
        invoker.invoke(invitation.worker, invitation.event)
    # Any error refuses this invitation only; the others go out.
    except Exception as error:
        return Refusal(invitation, f"{type(error).__name__}: {error}")
    return None
