"""Offer: a worker's right to claim one job."""

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True)
class Offer:
    """A worker's right to claim one job."""

    id: UUID
    ack: UUID
    queue: str = "default"
    kind: str = ""
    tenant: str = ""
