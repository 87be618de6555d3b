"""Tick: count what is due, offer what there is room for, and invite a worker for each."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import monotonic

from minutehand.database import Database
from minutehand.events import emit
from minutehand.events.publish import publish
from minutehand.fan_out import FanOut, Invoker, fan_out
from minutehand.maintenance import MaintenanceReport, run_maintenance
from minutehand.offer import Offered, offer, withdraw
from minutehand.settings import Settings

LOWEST_COUNT_LIMIT = 1000


@dataclass(frozen=True, kw_only=True)
class Tick:
    """What a tick saw and did.

    `due` is by queue, counted no further than `most` of each; `late` is how long the longest of it has been due.
    """

    due: Mapping[str, int]
    most: int
    late: timedelta
    offered: Offered
    fan_out: FanOut
    upkeep: MaintenanceReport
    took: timedelta


def tick(
    database: Database, invoker: Invoker, settings: Settings, now: datetime | None = None, until: float = math.inf
) -> Tick:  # fmt: skip
    """Make one pass of the dispatcher; any number of them at once, or twice, do no harm.

    Nobody is invited after the monotonic second `until`. An offer whose invitation was refused is taken back: it
    would only keep its job and its room for nothing.
    """
    began = monotonic()
    upkeep = run_maintenance(database, now)
    most = max(settings.capacity, LOWEST_COUNT_LIMIT)
    due = database.run("count_due", limit=most, now=now)
    offered = offer(database, settings.capacity, settings.offer_ttl, now)
    sent = fan_out(invoker, offered.offers, settings.workers, settings.chunk, until)
    refused = {offer.id: offer for refusal in sent.refused for offer in refusal.invitation.offers}
    withdraw(database, list(refused.values()))
    publish(database, (emit.offered(offer) for offer in offered.offers if offer.id not in refused))
    return Tick(
        due={record["queue"]: record["due"] for record in due},
        most=most,
        late=max((record["late"] for record in due), default=timedelta()),
        offered=offered,
        fan_out=sent,
        upkeep=upkeep,
        took=timedelta(seconds=monotonic() - began),
    )
