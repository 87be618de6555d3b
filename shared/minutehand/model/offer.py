"""Offer: a worker's right to claim one job."""

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True)
class Offer:
    """A worker's right to claim one job.

    A job is offered `alone` if its last claim lapsed, because it may have ended its worker's process.
    """

    id: UUID
    ack: UUID
    queue: str = "default"
    kind: str = ""
    tenant: str = ""
    alone: bool = False
