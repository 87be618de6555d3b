"""Invoking: the functions that a process invokes after it enqueued jobs."""

import logging
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from time import monotonic
from typing import Any

from minutehand.fan_out import FanOut, Invoker, fan_out, invitations
from minutehand.model.offer import Offer
from minutehand.model.worker_route import WorkerRoutes
from minutehand.settings import read_worker_routes
from minutehand.settings.table import CHUNK, DISPATCHER_NAME
from minutehand.waking.chain import Chain

# Seconds without invocations after one failed: each attempt costs the process that enqueues time.
PAUSE = 10.0
WAKE = {"wake": True}

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class InChain:
    """An invoker whose events continue a chain of invocations."""

    invoker: Invoker
    chain: Chain

    def invoke(self, worker: str, event: dict[str, Any]) -> None:
        """Hand over an event without waiting for the work; raise if the event was not accepted."""
        self.invoker.invoke(worker, event | self.chain.field)


@dataclass(frozen=True)
class Target:
    """The workers and the dispatcher."""

    invoker: Invoker
    routes: WorkerRoutes
    dispatcher: str
    chunk: int

    def invoke_workers(self, offers: Sequence[Offer], chain: Chain) -> FanOut:
        """Invoke the worker of each chunk of offers, and return the refused invitations too."""
        sent = fan_out(InChain(self.invoker, chain), invitations(offers, self.routes, self.chunk))
        if sent.refused:
            _pause(sent.refused[0].reason)
        return sent

    def invoke_dispatcher(self, chain: Chain) -> None:
        """Invoke the dispatcher, which offers due jobs and waits for those that become due within its minute."""
        try:
            InChain(self.invoker, chain).invoke(self.dispatcher, WAKE)
        # Any error; the next tick finds the jobs.
        except Exception as error:
            _pause(f"{type(error).__name__}: {error}")


def target() -> Target | None:
    """Return the functions that the settings name; None if they name none, or if an invocation has just failed."""
    routes, dispatcher = read_worker_routes(), DISPATCHER_NAME.read()
    if not routes.default or not dispatcher:
        _report_settings()
        return None
    if monotonic() < _paused_until:
        return None
    return Target(_invoker(os.getpid()), routes, dispatcher, CHUNK.read())


@cache
def _report_settings() -> None:
    logger.warning(
        "jobs wait for the next tick: MINUTEHAND_MODE=prompt requires MINUTEHAND_WORKER and MINUTEHAND_DISPATCHER"
    )


@cache
def _invoker(_process: int) -> Invoker:
    # Imported here, because only this mode invokes functions from processes that enqueue.
    from minutehand.aws import LambdaInvoker

    return LambdaInvoker()


def _pause(reason: str) -> None:
    global _paused_until
    _paused_until = monotonic() + PAUSE
    logger.warning("jobs wait for the next tick, because an invocation was refused: %s", reason)


_paused_until = 0.0
