"""Offer: give due jobs a fresh ack, up to the capacity, and hide them while the offer lasts."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from minutehand.database import Database
from minutehand.model.offer import Offer


@dataclass(frozen=True)
class Budget:
    """How many jobs of a queue may be offered or running, and how many offers lapsed since the last tick."""

    queue: str
    budget: int
    lapsed: int


@dataclass(frozen=True)
class Offered:
    """The offers of a tick, and the budgets of queues whose offers have lapsed."""

    offers: tuple[Offer, ...]
    budgets: tuple[Budget, ...] = ()


def offer(database: Database, capacity: int, ttl: timedelta, now: datetime | None = None) -> Offered:
    """Offer due jobs, so that at most `capacity` jobs are offered or running.

    A queue whose workers did not claim what they were offered has a budget below the capacity. The statement locks the
    dispatcher's row, so concurrent ticks count one after the other. Tests replace the database's clock by `now`.
    """
    return database.retry_on_conflict(lambda: _offer(database, capacity, ttl, now))


def withdraw(database: Database, offers: Sequence[Offer]) -> None:
    """Take back offers whose invitation was refused, so that their jobs are due at the next tick."""
    if offers:
        database.run("withdraw", ids=[offer.id for offer in offers], acks=[offer.ack for offer in offers])


def _offer(database: Database, capacity: int, ttl: timedelta, now: datetime | None) -> Offered:
    with database.transaction():
        database.run("start_tick", now=now)
        budgets = tuple(Budget(**record) for record in database.run("adjust_budgets", capacity=capacity))
        records = database.run(
            "offer",
            capacity=capacity,
            queues=[each.queue for each in budgets],
            budgets=[each.budget for each in budgets],
            ttl=ttl,
            now=now,
        )
        # The same in each record: the capacity less the jobs that were busy.
        rooms = [record.pop("room") for record in records]
        for record in records:
            del record["unclaimed"]
        database.run(
            "end_tick",
            capacity=capacity,
            ttl=ttl,
            now=now,
            offers=len(rooms),
            room=rooms[0] if rooms else None,
        )
    return Offered(tuple(Offer(**record) for record in records), budgets)
