"""Fan-out: each chunk of offers becomes an asynchronous invocation of a worker."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol

from minutehand.offer import Offer

THREADS = 32


class Invoker(Protocol):
    """Whatever can start a worker: Lambda, or a pool of processes on this machine."""

    def invoke(self, event: dict[str, Any]) -> None:
        """Hand over an event without waiting for its work; raise if it was not accepted."""


@dataclass(frozen=True)
class FanOut:
    """How many invocations were accepted, and why others were not; their offers come due again by themselves."""

    invoked: int
    refused: tuple[str, ...] = ()


def fan_out(invoker: Invoker, offers: Sequence[Offer], chunk: int = 1) -> FanOut:
    """Invoke a worker for every `chunk` offers of a queue, many at a time."""
    events = invitations(offers, chunk)
    if not events:
        return FanOut(0)
    with ThreadPoolExecutor(min(THREADS, len(events))) as pool:
        refused = tuple(filter(None, pool.map(lambda event: _invoke(invoker, event), events)))
    return FanOut(len(events) - len(refused), refused)


def invitations(offers: Sequence[Offer], chunk: int) -> list[dict[str, Any]]:
    """Return the events of a fan-out: `{"queue": ..., "offers": [[id, ack], ...]}`; a payload never travels."""
    queues: dict[str, list[list[str]]] = {}
    for offer in offers:
        queues.setdefault(offer.queue, []).append([str(offer.id), str(offer.ack)])
    return [
        {"queue": queue, "offers": pairs[start : start + chunk]}
        for queue, pairs in queues.items()
        for start in range(0, len(pairs), chunk)
    ]


def _invoke(invoker: Invoker, event: dict[str, Any]) -> str | None:
    try:
        invoker.invoke(event)
    except Exception as error:  # whatever it is, the other chunks go out
        return f"{type(error).__name__}: {error}"
    return None
