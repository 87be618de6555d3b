"""Dispatcher: woken every minute, it counts what is due and invites a worker for each."""

from datetime import UTC, datetime
from functools import cache
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit

from minutehand.aws import LambdaInvoker
from minutehand.database import ambient
from minutehand.settings import read_settings
from minutehand.tick import Tick, tick

logger = Logger(service="dispatcher")
metrics = Metrics(namespace="minutehand", service="dispatcher")
invoker = cache(LambdaInvoker)  # with its connections, from tick to tick


@logger.inject_lambda_context
@metrics.log_metrics
def handler(event: dict[str, Any], context: Any) -> dict[str, int]:
    """Make one tick; the event may carry the moment it was scheduled for, as `time` or `scheduled`."""
    settings = read_settings()
    made = tick(ambient(), invoker(settings.worker), settings)
    facts = _facts(made, _lag_ms(event))
    for name, value in facts.items():
        metrics.add_metric(
            name=name, value=value, unit=MetricUnit.Milliseconds if name.endswith("_ms") else MetricUnit.Count
        )
    logger.info("tick", extra=facts)
    for record in made.upkeep.buried:
        logger.warning(
            "dead", extra={"job": str(record["id"]), "kind": record["kind"], "attempt": record["attempts"]}
        )
    for reason in set(made.fan_out.refused):
        logger.error("invocation refused", extra={"reason": reason})
    return facts


def _facts(made: Tick, lag_ms: int | None) -> dict[str, int]:
    facts = {
        "due": sum(made.due.values()),
        "offered": len(made.offers),
        "invoked": made.fan_out.invoked,
        "refused": len(made.fan_out.refused),
        "dead": len(made.upkeep.buried),
        "late_ms": round(made.late.total_seconds() * 1000),
        "took_ms": round(made.took.total_seconds() * 1000),
    }
    return facts if lag_ms is None else facts | {"lag_ms": lag_ms}


def _lag_ms(event: dict[str, Any]) -> int | None:
    scheduled = event.get("scheduled") or event.get("time")
    if not scheduled:
        return None
    return max(0, round((datetime.now(UTC) - datetime.fromisoformat(scheduled)).total_seconds() * 1000))
