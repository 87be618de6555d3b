"""The worker function: claim the offered jobs, run their handlers and finish them."""

from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import timedelta
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit

from minutehand.database import Database, default_database
from minutehand.events.hooks import call_with_figures
from minutehand.handlers import DEFAULT_PACKAGE, HandlerPackage
from minutehand.invocations.running import Invocation
from minutehand.invocations.times import HandlerTimes
from minutehand.model.event import Event
from minutehand.model.invitation import parse
from minutehand.model.outcome import Finish
from minutehand.model.worker import Worker
from minutehand.settings import code_version, read_settings, sleeps
from minutehand.settings.table import HANDLERS, METRICS_NAMESPACE, MODE
from minutehand.tracing.context import current
from minutehand.web.delivery.fallback import deliver_if_routed

logger = Logger(service="worker")
metrics = Metrics(namespace=METRICS_NAMESPACE.read(), service="worker")
# The modules that the team names, then the folder next to app.py.
times = HandlerTimes()
handlers = HandlerPackage([*HANDLERS.read(), DEFAULT_PACKAGE], deliver_if_routed)


@logger.inject_lambda_context
def handler(event: dict[str, Any], context: Any) -> dict[str, int]:
    """Handle `{"queue": name, "offers": [[id, ack], ...]}`, or `{"queue": name or names}` for their next due job.

    After offers, the worker takes the next due jobs of the queue.
    """

    def remaining() -> timedelta:
        return timedelta(milliseconds=context.get_remaining_time_in_millis())

    settings, database = read_settings(), default_database()
    invited = parse(event)
    if prompts := MODE.read() == "prompt":
        _begin_chain(event)
    run = Invocation(
        database,
        handlers,
        remaining,
        settings.grace,
        log_event,
        identify(context),
        settings.concurrency,
        times,
    )
    with _resting(database):
        first = run.run(invited)
        further = run.run_next(invited, settings.jobs_per_invocation - len(first))
        run.store_times()
    if prompts:
        wake_later((*first, *further))
    return _count(event, first, further)


def _count(event: dict[str, Any], first: Sequence[Finish], further: Sequence[Finish]) -> dict[str, int]:
    """Put the metrics of an invocation, and return the number of jobs by how they ended."""
    counts = Counter[str](ending.ending for ending in (*first, *further))
    measured = {
        "claimed": len(first),
        "unclaimed": max(0, len(event.get("offers", first)) - len(first)),
        "taken": len(further),
        "empty": int(not first),
        **counts,
    }
    for name, value in measured.items():
        metrics.add_metric(name=name, value=value, unit=MetricUnit.Count)
    metrics.flush_metrics()
    call_with_figures(measured)
    return dict(counts)


def _resting(database: Database) -> AbstractContextManager[None]:
    """Leave the database alone after the invocation, if the mode is sleep."""
    if not sleeps():
        return nullcontext()
    # Imported only when used, for the sake of cold starts.
    from minutehand.waking.sleep import invocation

    return invocation(database)


def identify(context: Any) -> Worker:
    """Return the worker as attempts record it. The code version lets jobs of an older version be found and rerun."""
    version = code_version() or context.function_version
    return Worker(context.function_name, context.aws_request_id, int(context.memory_limit_in_mb), version)


def _begin_chain(event: dict[str, Any]) -> None:
    # Imported here, because only the mode prompt invokes functions for the jobs that handlers enqueue.
    from minutehand.waking.chain import begin

    begin(event)


def wake_later(endings: Sequence[Finish]) -> None:
    """Wake for the jobs that these have created, and for those that are due before the next tick."""
    # Imported here, because only this mode wakes the dispatcher.
    from minutehand.waking.ended import wake_for

    wake_for(default_database(), endings)


def log_event(event: Event) -> None:
    """Log one line about a job, never its payload. The cause of a failure has no value of the job."""
    facts = {name: getattr(event, name) for name in ("kind", "queue", "attempt")}
    facts |= {"job": str(event.job), "correlation_id": current().correlation, **event.facts}
    if event.cause:
        facts["cause"] = event.cause
    troubled = event.name in ("dead", "lost") or (event.name == "done" and "error_type" in event.facts)
    log = logger.warning if troubled else logger.info
    log(event.name, extra=facts)
