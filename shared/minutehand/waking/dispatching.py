"""Dispatching: the dispatcher's wait, from its event to its figures."""

import time
from collections.abc import Mapping
from typing import Any

from minutehand.database import Database
from minutehand.fan_out import Invoker
from minutehand.settings import Settings
from minutehand.tick import dispatch
from minutehand.waking.chain import Chain, begin
from minutehand.waking.invoking import InChain
from minutehand.waking.waiting import Pause, Wait


def wait(
    database: Database,
    invoker: Invoker,
    settings: Settings,
    event: Mapping[str, Any],
    until: float,
    pause: Pause = time.sleep,
) -> dict[str, int]:
    """Wait for jobs that become due before the next tick, at most until this monotonic second; return the figures."""
    began = time.monotonic()
    begin(event)
    workers = InChain(invoker, Chain.current()) if event.get("wake") else invoker
    invoked = refused = 0

    def dispatched() -> int:
        nonlocal invoked, refused
        offered, sent = dispatch(database, workers, settings, until=until)
        invoked, refused = invoked + sent.invoked, refused + len(sent.refused)
        return len(offered.offers)

    waits = Wait(database, dispatched, until - began, settings.capacity, pause)
    waited = waits.when_woken() if event.get("wake") else waits.after_tick()
    return {
        "polls": waited.polls,
        "dispatches": waited.dispatches,
        "offered_in_wait": waited.offered,
        "invoked_in_wait": invoked,
        "refused_in_wait": refused,
        "wait_ms": round((time.monotonic() - began) * 1000),
    }
