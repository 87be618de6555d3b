"""Offer: due rows that there is room for get a fresh ack, and are hidden while the offer is good."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from minutehand.database import Database
from minutehand.model.offer import Offer


@dataclass(frozen=True)
class Budget:
    """How many jobs of a queue may be offered or running, and how many of it lapsed since the tick before."""

    queue: str
    budget: int
    vain: int


@dataclass(frozen=True)
class Offered:
    """What a tick offers, and the budgets of the queues whose offers have lapsed."""

    offers: tuple[Offer, ...]
    budgets: tuple[Budget, ...] = ()


def offer(database: Database, capacity: int, ttl: timedelta, now: datetime | None = None) -> Offered:
    """Offer due jobs, never more than bring the offered and running ones up to `capacity`.

    Nor those of a queue up to more than its budget, which is lower where workers did not claim what they were
    offered. The dispatcher's row is held meanwhile: two ticks at once count one after the other. `now` stands for
    the database's clock in tests.
    """
    return database.retry_on_conflict(lambda: _offer(database, capacity, ttl, now))


def withdraw(database: Database, offers: Sequence[Offer]) -> None:
    """Take offers back of which no worker was told, so that they are due at the next tick."""
    if offers:
        database.run("withdraw", ids=[offer.id for offer in offers], acks=[offer.ack for offer in offers])


def _offer(database: Database, capacity: int, ttl: timedelta, now: datetime | None) -> Offered:
    with database.transaction():
        database.run("start_tick", now=now)
        budgets = tuple(Budget(**record) for record in database.run("adjust_budgets", capacity=capacity))
        records = database.run(
            "offer", capacity=capacity, queues=[each.queue for each in budgets],
            budgets=[each.budget for each in budgets], ttl=ttl, now=now,
        )  # fmt: skip
    offers = (Offer(**record) for record in records)
    return Offered(tuple(offers), budgets)
