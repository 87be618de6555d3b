"""Fan-out: each chunk of offers becomes an asynchronous invocation of the worker that serves it."""

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from time import monotonic
from typing import Any, Protocol

from minutehand.model.offer import Offer
from minutehand.model.worker_route import WorkerRoutes

THREADS = 32


class Invoker(Protocol):
    """Whatever can start a worker: Lambda, or a pool of processes on this machine."""

    def invoke(self, worker: str, event: dict[str, Any]) -> None:
        """Hand over an event without waiting for its work; raise if it was not accepted."""


@dataclass(frozen=True)
class Invitation:
    """Offers of one queue, and the worker function that is to claim them."""

    worker: str
    queue: str
    offers: tuple[Offer, ...]

    @property
    def event(self) -> dict[str, Any]:
        """What the worker is told: `{"queue": ..., "offers": [[id, ack], ...]}`; a payload never travels."""
        return {"queue": self.queue, "offers": [[str(offer.id), str(offer.ack)] for offer in self.offers]}


@dataclass(frozen=True)
class Refusal:
    """An invitation that was not accepted, and why."""

    invitation: Invitation
    reason: str


@dataclass(frozen=True)
class FanOut:
    """How many invitations were accepted, and the others."""

    invoked: int
    refused: tuple[Refusal, ...] = ()


def fan_out(
    invoker: Invoker, offers: Sequence[Offer], routes: WorkerRoutes, chunk: int = 1, until: float = math.inf
) -> FanOut:
    """Invoke a worker for every `chunk` offers that share worker and queue, many at a time.

    What was not begun by the monotonic second `until` is refused, as if Lambda had not answered.
    """
    invited = invitations(offers, routes, chunk)
    if not invited:
        return FanOut(0)
    with ThreadPoolExecutor(min(THREADS, len(invited))) as pool:
        refused = tuple(
            filter(None, pool.map(lambda invitation: _invoke(invoker, invitation, until), invited))
        )
    return FanOut(len(invited) - len(refused), refused)


def invitations(offers: Sequence[Offer], routes: WorkerRoutes, chunk: int) -> list[Invitation]:
    """Return the invitations of a fan-out."""
    together: dict[tuple[str, str], list[Offer]] = {}
    for offer in offers:
        together.setdefault((routes.worker(offer.queue, offer.kind), offer.queue), []).append(offer)
    return [
        Invitation(worker, queue, tuple(offers[start : start + chunk]))
        for (worker, queue), offers in together.items()
        for start in range(0, len(offers), chunk)
    ]


def _invoke(invoker: Invoker, invitation: Invitation, until: float) -> Refusal | None:
    if monotonic() > until:
        return Refusal(invitation, "no time was left to invite it")
    try:
        invoker.invoke(invitation.worker, invitation.event)
    except Exception as error:  # whatever it is, the other chunks go out
        return Refusal(invitation, f"{type(error).__name__}: {error}")
    return None
