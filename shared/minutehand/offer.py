"""Offer: due rows that there is room for get a fresh ack, and are hidden while the offer is good."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from minutehand.database import Database


@dataclass(frozen=True)
class Offer:
    """A worker's right to claim one job."""

    id: UUID
    ack: UUID
    queue: str = "default"
    kind: str = ""


@dataclass(frozen=True)
class Offered:
    """What a tick offers, within what budget, and how many offers have lapsed since the tick before."""

    offers: tuple[Offer, ...]
    budget: int
    vain: int


def offer(database: Database, capacity: int, ttl: timedelta, now: datetime | None = None) -> Offered:
    """Offer due jobs, never more than bring the offered and running ones up to the budget.

    The budget is `capacity` as long as workers claim what they are offered; offers that lapse lower it. The
    dispatcher's row is held meanwhile: two ticks at once count one after the other. `now` stands for the database's
    clock in tests.
    """
    return database.again(lambda: _offer(database, capacity, ttl, now))


def withdraw(database: Database, offers: Sequence[Offer]) -> None:
    """Take offers back of which no worker was told, so that they are due at the next tick."""
    if offers:
        database.run("withdraw", ids=[offer.id for offer in offers], acks=[offer.ack for offer in offers])


def _offer(database: Database, capacity: int, ttl: timedelta, now: datetime | None) -> Offered:
    with database.transaction():
        database.run("lock", now=now)
        budget = database.run("budget", capacity=capacity)[0]
        records = database.run("offer", budget=budget["budget"], ttl=ttl, now=now)
    offers = (Offer(record["id"], record["ack"], record["queue"], record["kind"]) for record in records)
    return Offered(tuple(offers), budget["budget"], budget["vain"])
