"""Log one line per request, never its body, and count the outcomes of enqueued jobs."""

import traceback
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from http import HTTPStatus
from time import monotonic
from typing import Any
from uuid import uuid4

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from minutehand.settings.table import METRICS_NAMESPACE
from minutehand.tracing.context import CORRELATION, TraceContext, current, use

logger = Logger(service="api")
metrics = Metrics(namespace=METRICS_NAMESPACE.read(), service="api")

ENQUEUES = {"/jobs", "/jobs/batch"}
HEADERS = {"x-content-type-options": "nosniff"}
UNCACHED = "no-store"
ID_CHARACTERS = 36
UNAUTHORIZED = {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}


class RequestLog:
    """The outermost middleware: every request gets a response and a line in the log."""

    def __init__(self, app: ASGIApp, on_crash: Response) -> None:
        """Wrap an application; `on_crash` answers a request that raised an unexpected error."""
        self._app = app
        self._on_crash = on_crash

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = monotonic(), 0
        scope.setdefault("state", {}).update(outcomes=Counter(), facts={})

        async def send_and_record(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS | {"x-correlation-id": context.correlation})
                headers.setdefault("cache-control", UNCACHED)
            await send(message)

        context = _context(scope)
        logger.set_correlation_id(context.correlation)
        try:
            with use(context):
                await self._app(scope, receive, send_and_record)
        except Exception as error:
            # Without the message, which may quote a payload.
            trace = "".join(traceback.format_tb(error.__traceback__))
            logger.error("crashed", extra={"error_type": type(error).__name__, "trace": trace})
            if not status:
                await self._on_crash(scope, receive, send_and_record)
        _log_request(scope, status, round((monotonic() - began) * 1000))


def _context(scope: Scope) -> TraceContext:
    """Return the trace of a request. Without an x-correlation-id, its correlation id is API Gateway's request id."""
    given = Headers(scope=scope)
    correlation = given.get("x-correlation-id", "")
    context = TraceContext.read({**given, CORRELATION: correlation})
    parent = context.parent or current().parent
    return replace(context, parent=parent, correlation=context.correlation or _request_id(scope))


def _request_id(scope: Scope) -> str:
    request: dict[str, Any] = scope.get("aws.event", {}).get("requestContext", {})
    return request.get("requestId") or str(uuid4())


def count_outcome(scope: Scope, outcome: str) -> None:
    """Count the outcome of a job that this request enqueued."""
    scope["state"]["outcomes"][outcome] += 1


def note_problem(scope: Scope, problem: Mapping[str, Any]) -> None:
    """Add the type of a problem, and the rule that the request broke, to the request's line."""
    name = problem["type"].rsplit(":", 1)[-1]
    scope["state"]["facts"].update(
        problem=name, **{name: problem[name] for name in ("rule",) if name in problem}
    )


def _log_request(scope: Scope, status: int, took_ms: int) -> None:
    outcomes: Counter[str] = scope["state"]["outcomes"]
    route = getattr(scope.get("route"), "path", None)
    if route in ENQUEUES and scope["method"] == "POST" and 400 <= status < 500 and status not in UNAUTHORIZED:
        outcomes["rejected"] += 1
    facts = {"method": scope["method"], "route": route, "status": status, "took_ms": took_ms}
    if job := scope.get("path_params", {}).get("id"):
        facts["job"] = job[:ID_CHARACTERS]
    logger.info("request", extra=facts | {"outcomes": dict(outcomes)} | scope["state"]["facts"])
    # Imported only when used, for the sake of cold starts.
    from minutehand.events.hooks import call_with_figures

    measured = {"requests": 1, **outcomes}
    call_with_figures(measured)
    if "aws.context" in scope:
        for name, value in measured.items():
            metrics.add_metric(name=name, value=value, unit=MetricUnit.Count)
