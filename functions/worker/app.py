"""Worker: invited to one job or a few, it claims them, runs their handlers and finishes them."""

import os
from collections import Counter
from datetime import timedelta
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit

from minutehand.database import ambient
from minutehand.handlers import HandlerPackage
from minutehand.model.event import Event
from minutehand.model.worker import Worker
from minutehand.settings import code_version, read_settings
from minutehand.work import run_event

logger = Logger(service="worker")
metrics = Metrics(namespace=os.environ.get("POWERTOOLS_METRICS_NAMESPACE", "minutehand"), service="worker")
handlers = HandlerPackage("handlers")


@logger.inject_lambda_context
def handler(event: dict[str, Any], context: Any) -> dict[str, int]:
    """Answer `{"queue": ..., "offers": [[id, ack], ...]}`, or `{"queue": name}` for the next due job of a queue."""

    def remaining() -> timedelta:
        return timedelta(milliseconds=context.get_remaining_time_in_millis())

    endings = run_event(ambient(), handlers, event, remaining, read_settings().grace, tell, identify(context))
    counts = Counter[str](ending.ending for ending in endings)
    invited = len(event.get("offers", endings))
    measured = {
        "claimed": len(endings),
        "unclaimed": max(0, invited - len(endings)),
        "empty": int(not endings),
        **counts,
    }
    for name, value in measured.items():
        metrics.add_metric(name=name, value=value, unit=MetricUnit.Count)
    metrics.flush_metrics()
    return dict(counts)


def identify(context: Any) -> Worker:
    """Say who works, for the job's history: by the version of the code it can be found and run again."""
    version = code_version() or context.function_version
    return Worker(context.function_name, context.aws_request_id, int(context.memory_limit_in_mb), version)


def tell(event: Event) -> None:
    """Log one line of facts about a job, never its payload."""
    facts = {name: getattr(event, name) for name in ("kind", "queue", "attempt")}
    facts |= {"job": str(event.job), **event.facts}
    log = logger.warning if event.name in ("dead", "lost") else logger.info
    log(event.name, extra=facts)
