"""Span: what the tracing libraries have in common."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Literal, Protocol

from minutehand.tracing.context import TraceContext

SpanKind = Literal["internal", "producer", "consumer", "client"]
Attributes = Mapping[str, str | int]


class Span(Protocol):
    """A span that has not ended."""

    def context(self) -> TraceContext:
        """Return the span's position in its trace; empty if it is not recorded."""

    def set(self, attributes: Attributes) -> None:
        """Add attributes."""

    def fail(self, error: str) -> None:
        """Mark the span as failed with the type of an error, whose message may be private."""


class Tracer(Protocol):
    """Starts spans."""

    def span(
        self, name: str, kind: SpanKind, attributes: Attributes, links: Sequence[TraceContext]
    ) -> AbstractContextManager[Span]:
        """Start a span that ends with the block."""
