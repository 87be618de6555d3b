"""Dispatcher: woken every minute, it counts what is due and invites a worker for each."""

import os
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime
from functools import cache
from time import monotonic
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit

from minutehand.aws import LambdaInvoker
from minutehand.database import ambient
from minutehand.errors import DatabaseError, MinutehandError
from minutehand.maintenance import check_health
from minutehand.schedules import Installed, install, load
from minutehand.schedules.fire import Fired
from minutehand.settings import code_version, read_settings
from minutehand.tick import Tick, tick

TO_WITHDRAW = 10.0  # seconds of the function's time, to take back the offers that were not sent by then

logger = Logger(service="dispatcher")
metrics = Metrics(
    namespace=os.environ.get("POWERTOOLS_METRICS_NAMESPACE", "minutehand"), service="dispatcher"
)
invoker = LambdaInvoker()  # with its connections, from tick to tick


@logger.inject_lambda_context
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Make one tick; the event may carry the moment it was scheduled for, as `time` or `scheduled`.

    With `check` it makes no tick, but says whether it reaches the database and every worker.
    """
    if event.get("check"):
        return check()
    lag_ms = _lag_ms(event)
    _try_to_install()
    until = monotonic() + context.get_remaining_time_in_millis() / 1000 - TO_WITHDRAW
    made = tick(ambient(), invoker, read_settings(), until=until)
    facts = _facts(made) | _health() | ({} if lag_ms is None else {"lag_ms": lag_ms})
    logger.info("tick", extra=facts)
    _measure(facts)
    _complain(made)
    return facts


@cache
def install_declared(place: str) -> Installed:
    """Make the table's schedules those that a module declares: once in each environment, whose code stays as it is."""
    return install(ambient(), load(place), "deploy", version=code_version())


def _try_to_install() -> None:
    try:
        if place := os.environ.get("MINUTEHAND_SCHEDULES"):
            install_declared(place)
    except MinutehandError as error:  # the tick is made all the same, and the next one tries again
        logger.error("schedules are not installed", extra={"reason": str(error)})


def check() -> dict[str, Any]:
    """Try the database, and Lambda for each worker, from where the dispatcher runs."""
    return {
        "database": _try(lambda: ambient().run("clock")),
        "workers": {
            worker: _try(lambda worker=worker: invoker.check(worker))  # type: ignore[misc]
            for worker in read_settings().workers.workers
        },
    }


def _try(call: Callable[[], object]) -> dict[str, Any]:
    began, error = monotonic(), ""
    try:
        call()
    except Exception as raised:
        error = f"{type(raised).__name__}: {raised}"
    return {"ok": not error, "ms": round((monotonic() - began) * 1000), "error": error}


def _facts(made: Tick) -> dict[str, int]:
    return {
        "due": sum(made.due.values()),
        "oldest_due_ms": round(made.late.total_seconds() * 1000),
        "offered": len(made.offered.offers),
        "vain": sum(budget.lapsed for budget in made.offered.budgets),
        "throttled": len(made.offered.budgets),
        "invoked": made.fan_out.invoked,
        "refused": len(made.fan_out.refused),
        "dead": len(made.maintenance.reaped),
        **_fired(made.maintenance.fired),
        "tick_ms": round(made.took.total_seconds() * 1000),
    }


def _fired(fired: Fired | None) -> dict[str, int]:
    fired = fired or Fired()
    return {"fired": fired.fired, "skipped": fired.skipped, "missed": fired.missed}


def _health() -> dict[str, int]:
    """Look at the database; the tick is made, and stays made when nobody may look."""
    try:
        health = check_health(ambient())
    except DatabaseError as error:
        logger.warning("health is not known", extra={"reason": str(error)})
        return {}
    return {
        "oldest_snapshot_ms": round(health.snapshot.total_seconds() * 1000),
        "dead_rows_per_live": health.dead_rows_per_live,
        "connections_percent": health.connections_percent,
    }


def _measure(facts: dict[str, int]) -> None:
    for name, value in facts.items():
        unit = MetricUnit.Milliseconds if name.endswith("_ms") else MetricUnit.Count
        metrics.add_metric(name=name, value=value, unit=unit)
    metrics.flush_metrics()


def _complain(made: Tick) -> None:
    for record in made.maintenance.reaped:
        facts = {"job": str(record["id"]), "kind": record["kind"], "queue": record["queue"]}
        logger.warning("dead", extra=facts | {"attempt": record["attempts"]})
    for schedule, reason in made.maintenance.fired.refused if made.maintenance.fired else ():
        logger.error("schedule refused", extra={"schedule": schedule, "reason": reason})
    for budget in made.offered.budgets:
        if budget.lapsed:
            logger.warning("offers lapsed", extra=asdict(budget))
    for worker, reason in {(refusal.invitation.worker, refusal.reason) for refusal in made.fan_out.refused}:
        logger.error("invocation refused", extra={"worker": worker, "reason": reason})


def _lag_ms(event: dict[str, Any]) -> int | None:
    """How late the tick comes; None where the event does not say a moment, such as one that was sent by hand."""
    try:
        scheduled = datetime.fromisoformat(event.get("scheduled") or event.get("time") or "")
        return max(0, round((datetime.now(UTC) - scheduled).total_seconds() * 1000))
    except (TypeError, ValueError):
        return None
