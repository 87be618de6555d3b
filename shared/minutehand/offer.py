"""Offer: due rows that there is room for get a fresh ack, and are hidden while the offer is good."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from minutehand.database import Database, Record


@dataclass(frozen=True)
class Offer:
    """A worker's right to claim one job."""

    id: UUID
    ack: UUID
    queue: str = "default"
    kind: str = ""


def offer(database: Database, capacity: int, ttl: timedelta, now: datetime | None = None) -> list[Offer]:
    """Offer due jobs, never more than bring the offered and running ones up to `capacity`.

    The dispatcher's row is held meanwhile: two ticks at once count one after the other. `now` stands for the
    database's clock in tests.
    """
    records = database.again(lambda: _offer(database, capacity, ttl, now))
    return [Offer(record["id"], record["ack"], record["queue"], record["kind"]) for record in records]


def _offer(database: Database, capacity: int, ttl: timedelta, now: datetime | None) -> list[Record]:
    with database.transaction():
        database.run("lock", now=now)
        return database.run("offer", capacity=capacity, ttl=ttl, now=now)
