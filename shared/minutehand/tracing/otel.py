"""OpenTelemetry spans, by the tracer provider that your program or its Lambda layer configures."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from opentelemetry import trace
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from minutehand.tracing.context import TraceContext
from minutehand.tracing.span import Attributes, SpanKind

_propagator = TraceContextTextMapPropagator()
_KINDS = {
    "internal": trace.SpanKind.INTERNAL,
    "producer": trace.SpanKind.PRODUCER,
    "consumer": trace.SpanKind.CONSUMER,
    "client": trace.SpanKind.CLIENT,
}


class OpenTelemetrySpan:
    """A span of OpenTelemetry."""

    def __init__(self, span: trace.Span) -> None:
        """Wrap a span that has started."""
        self._span = span

    def context(self) -> TraceContext:
        """Return the span's position in its trace."""
        carrier: dict[str, str] = {}
        _propagator.inject(carrier, trace.set_span_in_context(self._span))
        return TraceContext.read(carrier)

    def set(self, attributes: Attributes) -> None:
        """Add attributes."""
        self._span.set_attributes(dict(attributes))

    def fail(self, error: str) -> None:
        """Set the span's status to an error."""
        self._span.set_attribute("error.type", error)
        self._span.set_status(trace.StatusCode.ERROR)


class OpenTelemetryTracer:
    """Starts spans of the current tracer provider."""

    @contextmanager
    def span(
        self, name: str, kind: SpanKind, attributes: Attributes, links: Sequence[TraceContext]
    ) -> Iterator[OpenTelemetrySpan]:
        """Start a span as the current one."""
        tracer = trace.get_tracer("minutehand")
        with tracer.start_as_current_span(
            name,
            kind=_KINDS[kind],
            attributes=dict(attributes),
            links=[trace.Link(_span_context(link)) for link in links],
            # An exception's message and trace may quote a payload.
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            try:
                yield OpenTelemetrySpan(span)
            except BaseException as error:
                OpenTelemetrySpan(span).fail(type(error).__name__)
                raise


def _span_context(context: TraceContext) -> trace.SpanContext:
    extracted = _propagator.extract({"traceparent": context.parent, "tracestate": context.state})
    return trace.get_current_span(extracted).get_span_context()
