"""The dispatcher function: once a minute, count the due jobs, offer them and invoke a worker for each chunk."""

from collections.abc import Callable
from dataclasses import asdict
from functools import cache
from time import monotonic
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit

from minutehand.aws import LambdaInvoker
from minutehand.database import default_database
from minutehand.errors import DatabaseError, MinutehandError, UnreachableError, WakeupError
from minutehand.events.hooks import call_with_figures
from minutehand.fan_out import FanOut
from minutehand.functions.dispatcher_usage import UsageRecorder, lag_of
from minutehand.invocations.forwarding import forward
from minutehand.offer import withdraw
from minutehand.queries.health import check_health
from minutehand.settings import code_version, read_settings, sleeps
from minutehand.settings.table import HANDLERS, METRICS_NAMESPACE, MODE, SCHEDULES, SOURCE
from minutehand.tick import Tick, tick

if TYPE_CHECKING:
    from minutehand.operations.declared import InstalledLimits
    from minutehand.schedules import Installed

# Seconds of the function's time reserved for withdrawing offers that were not sent.
WITHDRAW_SECONDS = 10.0

logger = Logger(service="dispatcher")
metrics = Metrics(namespace=METRICS_NAMESPACE.read(), service="dispatcher")
# Its connections are reused from tick to tick.
invoker = LambdaInvoker()
usage = UsageRecorder()


@logger.inject_lambda_context
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Make one tick; the event may have the time it was scheduled for, as `time` or `scheduled`.

    An event with `check` makes no tick: it tests the connections to the database and every worker. One with `wake` is
    from a process that enqueued jobs, in the mode `prompt`, and one with `invitations` from a tick that forwarded them.
    """
    began = monotonic()
    if event.get("check"):
        try:
            return check()
        finally:
            if sleeps():
                # An open connection keeps a database awake.
                default_database().close()
    if not sleeps():
        return _recorded(event, context, began)
    # Imported only when used, for the sake of cold starts.
    from minutehand.waking.sleep import invocation

    with invocation(default_database(), ticks=True):
        return _recorded(event, context, began)


def _recorded(event: dict[str, Any], context: Any, began: float) -> dict[str, Any]:
    """Handle an event, and record what that used, also if it fails."""
    facts: dict[str, Any] = {}
    try:
        facts = _handle(event, context)
    # Without a database, the record would wait for it a second time.
    except UnreachableError:
        raise
    except Exception:
        _record(event, context, began, facts)
        raise
    _record(event, context, began, facts)
    return facts


def _record(event: dict[str, Any], context: Any, began: float, facts: dict[str, Any]) -> None:
    usage.record(
        default_database(),
        read_settings(),
        scheduled="scheduled" in event,
        memory_mb=int(context.memory_limit_in_mb),
        began=began,
        waited_ms=facts.get("wait_ms", 0),
    )


def _handle(event: dict[str, Any], context: Any) -> dict[str, Any]:
    until = monotonic() + context.get_remaining_time_in_millis() / 1000 - WITHDRAW_SECONDS
    if "invitations" in event:
        return send_forwarded(event, until)
    if event.get("wake"):
        return _wait(event, until)
    facts = _tick(event, until, context.function_name)
    return facts | (_wait(event, until) if MODE.read() == "prompt" else {})


def _tick(event: dict[str, Any], until: float, dispatcher: str) -> dict[str, Any]:
    lag_ms = lag_of(event)
    _try_to_install()
    result = tick(default_database(), invoker, read_settings(), until=until, dispatcher=dispatcher)
    facts = _facts(result) | _health() | ({} if lag_ms is None else {"lag_ms": lag_ms})
    logger.info("tick", extra=facts)
    _put_metrics(facts)
    _log_problems(result)
    if result.arranged is False:
        raise WakeupError("the wake-up of the next tick was not created; Lambda repeats this tick")
    return facts


def _wait(event: dict[str, Any], until: float) -> dict[str, Any]:
    """Dispatch jobs that become due before the next tick. Errors are logged: that tick finds their jobs."""
    # Imported here, because only this mode waits.
    from minutehand.waking.dispatching import wait

    facts = {}
    try:
        facts = wait(default_database(), invoker, read_settings(), event, until)
    except MinutehandError as error:
        logger.error("the dispatcher stopped waiting", extra={"reason": str(error)})
    logger.info("waited", extra=facts)
    _put_metrics(facts)
    return facts


def send_forwarded(event: dict[str, Any], until: float) -> dict[str, int]:
    """Send the invitations that a tick has forwarded."""
    sent = forward(invoker, event, until)
    withdraw(default_database(), [offer for refusal in sent.refused for offer in refusal.invitation.offers])
    facts = {"invoked": sent.invoked, "refused": len(sent.refused)}
    logger.info("forwarded", extra=facts)
    _put_metrics(facts)
    _log_refusals(sent)
    return facts


@cache
def install_declared(place: str, handlers: tuple[str, ...]) -> "Installed":
    """Install the schedules of a module and of decorated functions; once per environment, whose code is fixed."""
    from minutehand.kinds.recurring import declared_schedules
    from minutehand.schedules import install, load

    schedules = [*(load(place) if place else ()), *(declared_schedules(handlers) if handlers else ())]
    return install(default_database(), schedules, SOURCE.read(), version=code_version())


@cache
def install_limits(place: str) -> "InstalledLimits":
    """Install the list LIMITS of the module with the schedules; once per environment."""
    from minutehand.operations.declared import install, load

    return install(default_database(), load(place.partition(":")[0]), SOURCE.read())


def _try_to_install() -> None:
    place, handlers = SCHEDULES.read(), HANDLERS.read()
    if place or handlers:
        _try_to("schedules", install_declared, place, handlers)
    if place:
        _try_to("limits", install_limits, place)


def _try_to(what: str, install: Any, *arguments: Any) -> None:
    """Install what is declared. The tick goes on after an error or a refusal, and the next tick tries again."""
    try:
        if refused := install(*arguments).refused:
            install.cache_clear()
            reason = (
                f"{what} of other sources have the names {', '.join(refused)}; delete those, or rename yours"
            )
            logger.error(f"some {what} are not installed", extra={"reason": reason})
    except Exception as error:  # Of any type, since the module is the team's code.
        logger.error(f"{what} are not installed", extra={"reason": str(error)})


def check() -> dict[str, Any]:
    """Test the connections to the database and to Lambda for each worker."""
    return {
        "database": _try(lambda: default_database().run("clock")),
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


def _facts(result: Tick) -> dict[str, int]:
    return {
        "due": sum(result.due.values()),
        "oldest_due_ms": round(result.late.total_seconds() * 1000),
        "offered": len(result.offered.offers),
        "lapsed": sum(budget.lapsed for budget in result.offered.budgets),
        "throttled": len(result.offered.budgets),
        "invoked": result.fan_out.invoked,
        "forwarded": result.fan_out.forwarded,
        "refused": len(result.fan_out.refused),
        **({} if result.arranged is None else {"failed_wakeups": int(not result.arranged)}),
        **result.maintenance.figures(),
        "tick_ms": round(result.took.total_seconds() * 1000),
    }


def _health() -> dict[str, int]:
    """Return the database's health; nothing if the role may not read it, which does not fail the tick."""
    try:
        return check_health(default_database()).figures()
    except DatabaseError as error:
        logger.warning("health is unknown", extra={"reason": str(error)})
        return {}


def _put_metrics(facts: dict[str, int]) -> None:
    for name, value in facts.items():
        metrics.add_metric(name=name, value=value, unit=_unit(name))
    metrics.flush_metrics()
    call_with_figures(facts)


def _unit(name: str) -> MetricUnit:
    """Return the unit of a metric; minutehand.metrics.table, which is not imported here, has the same rule."""
    if name.endswith("_ms"):
        return MetricUnit.Milliseconds
    return MetricUnit.Percent if name.endswith("_percent") else MetricUnit.Count


def _log_problems(result: Tick) -> None:
    for record in result.maintenance.reaped:
        facts = {"job": str(record["id"]), "kind": record["kind"], "queue": record["queue"]}
        logger.warning("dead", extra=facts | {"attempt": record["attempts"]})
    for schedule, reason in result.maintenance.fired.refused if result.maintenance.fired else ():
        logger.error("schedule refused", extra={"schedule": schedule, "reason": reason})
    for budget in result.offered.budgets:
        if budget.lapsed:
            logger.warning("offers lapsed", extra=asdict(budget))
    _log_refusals(result.fan_out)


def _log_refusals(sent: FanOut) -> None:
    for worker, reason in {(refusal.invitation.worker, refusal.reason) for refusal in sent.refused}:
        logger.error("invocation refused", extra={"worker": worker, "reason": reason})
