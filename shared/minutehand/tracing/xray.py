"""X-Ray subsegments, by Powertools' Tracer. X-Ray cannot link traces, so the enqueuer's trace is an annotation."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from aws_lambda_powertools import Tracer as PowertoolsTracer

from minutehand.tracing.context import TraceContext
from minutehand.tracing.span import Attributes, SpanKind


class XRaySpan:
    """A subsegment."""

    def __init__(self, segment: Any) -> None:
        """Wrap a subsegment; without an active trace it is None."""
        self._segment = segment

    def context(self) -> TraceContext:
        """Return the subsegment's position in its trace."""
        if self._segment is None or not getattr(self._segment, "trace_id", None):
            return TraceContext()
        _, time, unique = self._segment.trace_id.split("-")
        sampled = "01" if self._segment.sampled else "00"
        return TraceContext(parent=f"00-{time}{unique}-{self._segment.id}-{sampled}")

    def set(self, attributes: Attributes) -> None:
        """Add annotations, by which X-Ray can search. Their names have underscores instead of dots."""
        if self._segment is not None:
            for name, value in attributes.items():
                self._segment.put_annotation(name.replace(".", "_"), value)

    def fail(self, error: str) -> None:
        """Mark the subsegment as a fault."""
        if self._segment is not None:
            self._segment.put_annotation("error_type", error)
            self._segment.add_fault_flag()


class XRayTracer:
    """Starts subsegments of the invocation's segment."""

    def __init__(self) -> None:
        """Create Powertools' tracer without patching the libraries that handlers use."""
        self._tracer = PowertoolsTracer(service="minutehand", auto_patch=False)

    @contextmanager
    def span(
        self, name: str, kind: SpanKind, attributes: Attributes, links: Sequence[TraceContext]
    ) -> Iterator[XRaySpan]:
        """Start a subsegment; its errors are recorded by type only, because messages may quote a payload."""
        failure: BaseException | None = None
        with self._tracer.provider.in_subsegment(name) as segment:
            span = XRaySpan(segment)
            span.set(attributes)
            for link in links:
                span.set({"enqueued_by": _xray_id(link)})
            try:
                yield span
            except BaseException as error:
                span.fail(type(error).__name__)
                failure = error
        # Raised outside of the subsegment, which would store the message.
        if failure is not None:
            raise failure


def _xray_id(context: TraceContext) -> str:
    trace = context.parent[3:35]
    return f"1-{trace[:8]}-{trace[8:]}"
