"""Tick: run maintenance, count due jobs, offer as many as the capacity allows, and invite workers."""

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
    """The figures of a tick.

    `due` counts due jobs by queue, up to `limit` each; `late` is how long the oldest of them has been due.
    """

    due: Mapping[str, int]
    limit: int
    late: timedelta
    offered: Offered
    fan_out: FanOut
    maintenance: MaintenanceReport
    took: timedelta


def tick(
    database: Database,
    invoker: Invoker,
    settings: Settings,
    now: datetime | None = None,
    until: float = math.inf,
) -> Tick:
    """Make one pass of the dispatcher. Concurrent and repeated ticks are safe.

    No worker is invited after the monotonic second `until`. An offer whose invitation was refused is withdrawn, since
    it would only block its job and use up capacity.
    """
    began = monotonic()
    maintenance = run_maintenance(database, now)
    limit = max(settings.capacity, LOWEST_COUNT_LIMIT)
    due = database.run("count_due", limit=limit, now=now)
    offered = offer(database, settings.capacity, settings.offer_ttl, now)
    sent = fan_out(invoker, offered.offers, settings.workers, settings.chunk, until)
    refused = {offer.id: offer for refusal in sent.refused for offer in refusal.invitation.offers}
    withdraw(database, list(refused.values()))
    publish(database, (emit.offered(offer) for offer in offered.offers if offer.id not in refused))
    return Tick(
        due={record["queue"]: record["due"] for record in due},
        limit=limit,
        late=max((record["late"] for record in due), default=timedelta()),
        offered=offered,
        fan_out=sent,
        maintenance=maintenance,
        took=timedelta(seconds=monotonic() - began),
    )
