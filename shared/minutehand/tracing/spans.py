"""Spans: what each enqueue, tick, claim and attempt reports to a tracing library.

Names and attributes follow OpenTelemetry's conventions for messaging
(https://opentelemetry.io/docs/specs/semconv/messaging/messaging-spans/).
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import Context, copy_context
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from minutehand.claimed_job import Job
from minutehand.model.outcome import Finish
from minutehand.settings.table import TRACING
from minutehand.tracing.context import TraceContext, current, inject, make_current, use
from minutehand.tracing.span import Attributes, Span, Tracer

if TYPE_CHECKING:
    from minutehand.model.new_job import NewJob

logger = logging.getLogger(__name__)


class _NoSpan:
    def context(self) -> TraceContext:
        return TraceContext()

    def set(self, attributes: Attributes) -> None:
        pass

    def fail(self, error: str) -> None:
        pass


_NO_SPAN = _NoSpan()


def are_recorded() -> bool:
    """Return whether spans are recorded."""
    return tracer_of_settings() is not None


def are_stacked() -> bool:
    """Return whether the span that started last must end first, so that attempts must not overlap in a thread."""
    return TRACING.read() == "xray" and are_recorded()


def prepare(job: "NewJob", tracer: Tracer | None, invocation: TraceContext) -> "NewJob":
    """Return the job with the current trace in its headers, inside a span of its own if spans are recorded."""
    if tracer is None:
        return inject(job, invocation)
    attributes = _attributes("enqueue", "create", job.queue or "default", job.kind)
    with tracer.span(f"enqueue {job.queue or 'default'}", "producer", attributes, ()) as span:
        return _inject_span(job, span)


def without_span(job: Job) -> AbstractContextManager[None]:
    """Make the job's trace the current one while its attempt runs."""
    return use(partial(_context, job))


def context_of(job: Job) -> Context:
    """Return a copy of the current context variables, in which the job's trace is the current one."""
    variables = copy_context()
    variables.run(make_current, partial(_context, job))
    return variables


@contextmanager
def attempt(job: Job) -> Iterator[Span]:
    """Make the job's trace the current one while its attempt runs, in a span of its own if spans are recorded."""
    tracer = tracer_of_settings()
    if tracer is None:
        with without_span(job):
            yield _NO_SPAN
        return
    stored, context = TraceContext.read(job.headers), _context(job)
    attributes = {
        **_attributes("handle", "process", job.queue, job.kind),
        "messaging.message.id": str(job.id),
        "minutehand.attempt": job.attempt,
        "minutehand.correlation_id": context.correlation,
    }
    links = (stored,) if stored.parent else ()
    with tracer.span(f"handle {job.queue}", "consumer", attributes, links) as span, use(_at(span, context)):
        yield span


def _context(job: Job) -> TraceContext:
    """Return the trace of a job. Its correlation id is by default the job's id."""
    stored = TraceContext.read(job.headers)
    return TraceContext(stored.parent, stored.state, stored.baggage, stored.correlation or str(job.id))


def finished(span: Span, finish: Finish) -> None:
    """Record how an attempt ended."""
    span.set({"minutehand.outcome": finish.ending})
    if finish.error is not None:
        span.fail(str(finish.error["type"]))


@contextmanager
def claiming(queue: str | None) -> Iterator[Span]:
    """Record a claim of offered jobs, or of due jobs of a queue."""
    tracer = tracer_of_settings()
    if tracer is None:
        yield _NO_SPAN
        return
    name = f"claim {queue}" if queue else "claim"
    with tracer.span(name, "client", _attributes("claim", "receive", queue), ()) as span:
        yield span


def claimed(span: Span, records: Sequence[Mapping[str, Any]]) -> None:
    """Record how many jobs were claimed."""
    span.set({"messaging.batch.message_count": len(records)})


@contextmanager
def ticking() -> Iterator[Span]:
    """Record a tick of the dispatcher."""
    tracer = tracer_of_settings()
    if tracer is None:
        yield _NO_SPAN
        return
    with tracer.span("tick", "internal", {"messaging.system": "minutehand"}, ()) as span:
        yield span


def _attributes(
    operation: str, operation_type: str, queue: str | None, kind: str | None = None
) -> dict[str, str | int]:
    known = {
        "messaging.system": "minutehand",
        "messaging.operation.name": operation,
        "messaging.operation.type": operation_type,
        "messaging.destination.name": queue,
        "minutehand.kind": kind,
    }
    return {name: value for name, value in known.items() if value is not None}


def _inject_span(job: "NewJob", span: Span) -> "NewJob":
    with use(_at(span, current())):
        return inject(job)


def _at(span: Span, context: TraceContext) -> TraceContext:
    """Return the context with the position of the span, if it is recorded."""
    at = span.context()
    return TraceContext(at.parent, at.state, context.baggage, context.correlation) if at.parent else context


def tracer_of_settings() -> Tracer | None:
    """Return the tracer that the setting names, or None."""
    return _tracer(TRACING.read())


@cache
def _tracer(name: str) -> Tracer | None:
    """Return the tracer of the setting. A missing library costs the spans, not the jobs."""
    try:
        return _load(name)
    except ImportError as error:
        logger.warning("%s=%s records nothing: install minutehand[%s] (%s)", TRACING.name, name, name, error)
        return None


def _load(name: str) -> Tracer | None:
    # Imported only when used, for the sake of cold starts.
    if name == "otel":
        from minutehand.tracing.otel import OpenTelemetryTracer

        return OpenTelemetryTracer()
    if name == "xray":
        from minutehand.tracing.xray import XRayTracer

        return XRayTracer()
    return None
