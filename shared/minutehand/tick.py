"""Tick: run maintenance, count due jobs, offer as many as the capacity allows, and invite workers.

No stored value can fail a tick: a step that fails before the offers is logged and reported, and the offers go out.
"""

import logging
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import monotonic

from minutehand.database import Database, Record
from minutehand.events import emit
from minutehand.events.publish import publish
from minutehand.fan_out import FanOut, Invoker, invitations
from minutehand.invocations.forwarding import invite
from minutehand.maintenance import MaintenanceReport, run_maintenance
from minutehand.model.failure import message_of
from minutehand.offer import Offered, offer, withdraw
from minutehand.settings import Settings, sleeps
from minutehand.settings.table import MODE
from minutehand.tracing import spans

LOWEST_COUNT_LIMIT = 1000

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Tick:
    """The figures of a tick.

    `due` counts due jobs by queue, up to `limit` each; `late` is how long the oldest of them has been due.
    Both are empty if the jobs could not be counted. `arranged` is whether the wake-up of the next tick exists in the
    mode `sleep`; None in other modes.
    """

    due: Mapping[str, int]
    limit: int
    late: timedelta
    offered: Offered
    fan_out: FanOut
    maintenance: MaintenanceReport
    took: timedelta
    arranged: bool | None = None


def tick(
    database: Database,
    invoker: Invoker,
    settings: Settings,
    now: datetime | None = None,
    until: float = math.inf,
    dispatcher: str = "",
) -> Tick:
    """Make one pass of the dispatcher. Concurrent and repeated ticks are safe.

    No worker is invited after the monotonic second `until`. More than 2,000 invitations are sent by the function
    `dispatcher`, if there is one. An offer whose invitation was refused is withdrawn, since it would only block its job
    and use up capacity.
    """
    with spans.ticking() as span:
        result = _tick(database, invoker, settings, now, until, dispatcher)
        span.set(
            {"minutehand.offered": len(result.offered.offers), "minutehand.invoked": result.fan_out.invoked}
        )
        return result


def _tick(
    database: Database,
    invoker: Invoker,
    settings: Settings,
    now: datetime | None,
    until: float,
    dispatcher: str,
) -> Tick:
    began = monotonic()
    maintenance = run_maintenance(database, now)
    limit = max(settings.capacity, LOWEST_COUNT_LIMIT)
    due = _count_due(database, limit, now)
    offered, sent = dispatch(database, invoker, settings, now, until, dispatcher)
    arranged = _arrange_next(database, is_dispatcher=bool(dispatcher))
    return Tick(
        due={record["queue"]: record["due"] for record in due},
        limit=limit,
        late=max((record["late"] for record in due), default=timedelta()),
        offered=offered,
        fan_out=sent,
        maintenance=maintenance,
        took=timedelta(seconds=monotonic() - began),
        arranged=arranged,
    )


def dispatch(
    database: Database,
    invoker: Invoker,
    settings: Settings,
    now: datetime | None = None,
    until: float = math.inf,
    dispatcher: str = "",
) -> tuple[Offered, FanOut]:
    """Offer as many due jobs as the capacity allows, and invite workers."""
    offered = offer(database, settings.capacity, settings.offer_ttl, now)
    parts = _parts(database, offered, settings.chunk)
    planned = invitations(offered.offers, settings.workers, settings.chunk, parts)
    sent = invite(invoker, planned, until, dispatcher)
    refused = {offer.id: offer for refusal in sent.refused for offer in refusal.invitation.offers}
    withdraw(database, list(refused.values()))
    publish(database, (emit.offered(offer) for offer in offered.offers if offer.id not in refused))
    return offered, sent


def _arrange_next(database: Database, *, is_dispatcher: bool) -> bool | None:
    # Other processes that tick, such as the command line, may have another mode than the stack.
    changed = is_dispatcher and _mode_changed(database)
    if not sleeps():
        return None
    # Imported only when used, for the sake of cold starts.
    from minutehand.waking.sleep import arrange_tick

    return arrange_tick(database, mode_changed=changed)


def _mode_changed(database: Database) -> bool:
    """Record the mode of this tick; return whether it may have changed a short time ago."""
    try:
        return bool(database.run("note_mode", mode=MODE.read())[0]["changed"])
    # The offers have gone out.
    except Exception as error:
        logger.error("the mode was not recorded: %s: %s", type(error).__name__, message_of(error))
        return True


def _count_due(database: Database, limit: int, now: datetime | None) -> list[Record]:
    try:
        return database.run("count_due", limit=limit, now=now)
    # The offers go out without the figures.
    except Exception as error:
        logger.error("due jobs could not be counted: %s: %s", type(error).__name__, message_of(error))
        return []


def _parts(database: Database, offered: Offered, chunk: int) -> dict[str, float]:
    """Return which part of an invocation a job of each kind takes, as far as workers have measured it."""
    kinds = {offer.kind for offer in offered.offers}
    if chunk == 1 or not kinds:
        return {}
    try:
        return {record["kind"]: record["part"] for record in database.run("kind_times", kinds=[*kinds])}
    # The chunks then have the configured size.
    except Exception as error:
        logger.error("the times of kinds are unknown: %s: %s", type(error).__name__, message_of(error))
        return {}
