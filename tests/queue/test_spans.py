"""Spans of OpenTelemetry and subsegments of X-Ray, from the enqueue to the attempt."""

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from minutehand import Job
from minutehand.attempts.in_turn import run_jobs
from minutehand.handlers import HandlerTable
from minutehand.settings import read_settings
from minutehand.testing import RecordingInvoker
from minutehand.tick import tick
from minutehand.tracing.context import TraceContext, current, use
from minutehand.tracing.xray import XRayTracer
from tests.queue.stage import Queue

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.fixture(scope="session")
def exporter() -> InMemorySpanExporter:
    """The spans of this process, whose tracer provider can be set only once."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    return exporter


@pytest.fixture
def spans(exporter: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    monkeypatch.setenv("MINUTEHAND_TRACING", "otel")
    exporter.clear()
    return exporter


@pytest.fixture
def xray_recorder() -> Iterator[Any]:
    """The recorder of X-Ray, whose import opens a socket that nobody closes."""
    from aws_xray_sdk.core import xray_recorder

    yield xray_recorder
    xray_recorder.emitter._socket.close()


@pytest.fixture
def emitted(xray_recorder: Any, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The segments that X-Ray would be sent."""
    sent: list[Any] = []
    monkeypatch.setattr(xray_recorder.emitter, "send_entity", sent.append)
    xray_recorder.configure(sampling=False)
    return sent


def by_name(spans: InMemorySpanExporter) -> dict[str, ReadableSpan]:
    return {span.name: span for span in spans.get_finished_spans()}


def test_attempt_is_linked_to_the_enqueue(direct_queue: Queue, spans: InMemorySpanExporter) -> None:
    with trace.get_tracer("app").start_as_current_span("POST /orders"):
        job = direct_queue.enqueue()

    direct_queue.work(lambda payload: None)

    found = by_name(spans)
    enqueued, handled, claimed = found["enqueue default"], found["handle default"], found["claim default"]
    assert enqueued.parent == found["POST /orders"].context
    assert [link.context.span_id for link in handled.links] == [enqueued.context.span_id]
    assert (enqueued.kind, claimed.kind, handled.kind) == (
        SpanKind.PRODUCER,
        SpanKind.CLIENT,
        SpanKind.CONSUMER,
    )
    assert handled.attributes == {
        "messaging.system": "minutehand",
        "messaging.operation.name": "handle",
        "messaging.operation.type": "process",
        "messaging.destination.name": "default",
        "messaging.message.id": str(job),
        "minutehand.kind": "echo",
        "minutehand.attempt": 1,
        "minutehand.correlation_id": str(job),
        "minutehand.outcome": "done",
    }
    assert claimed.attributes is not None and claimed.attributes["messaging.batch.message_count"] == 1


def test_failed_attempt_has_the_error_type_only(direct_queue: Queue, spans: InMemorySpanExporter) -> None:
    def fail(payload: object) -> None:
        raise ValueError("card 4111-private")

    direct_queue.enqueue()
    direct_queue.work(fail)

    handled = by_name(spans)["handle default"]
    assert handled.status.status_code is StatusCode.ERROR
    assert handled.attributes is not None and handled.attributes["error.type"] == "ValueError"
    assert "4111-private" not in handled.to_json()


def test_job_of_a_handler_continues_its_trace(direct_queue: Queue, spans: InMemorySpanExporter) -> None:
    def continue_work(job: Job) -> None:
        direct_queue.enqueue(queue="second")

    first = direct_queue.enqueue()
    direct_queue.work(continue_work)

    found = by_name(spans)
    second = found["enqueue second"]
    assert second.parent == found["handle default"].context
    (row,) = direct_queue.sql("select headers from minutehand.jobs where queue = 'second'")
    assert row["headers"]["correlation-id"] == str(first)


def test_tick_is_a_span(direct_queue: Queue, spans: InMemorySpanExporter) -> None:
    direct_queue.enqueue()

    tick(direct_queue.database, RecordingInvoker(), read_settings())

    ticked = by_name(spans)["tick"]
    assert ticked.attributes == {
        "messaging.system": "minutehand",
        "minutehand.offered": 1,
        "minutehand.invoked": 1,
    }


def test_trace_is_carried_without_a_tracing_library(direct_queue: Queue) -> None:
    seen: list[TraceContext] = []
    request = TraceContext(PARENT, baggage="plan=pro", correlation="request-1")
    with use(request):
        direct_queue.enqueue()

    direct_queue.work(lambda payload: seen.append(current()))

    assert seen == [request]
    assert current() == TraceContext()


def fail_in_span(tracer: XRayTracer) -> TraceContext:
    """Raise an error in a span, and return the span's context."""
    with (
        suppress(ValueError),
        tracer.span("handle a", "consumer", {"a.b": "c"}, [TraceContext(PARENT)]) as span,
    ):
        at = span.context()
        raise ValueError("card 4111-private")
    return at


def test_xray_subsegment_names_the_trace_of_the_enqueue(
    xray_recorder: Any, emitted: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    with xray_recorder.in_segment("function"):
        # Powertools records nothing outside of Lambda.
        monkeypatch.setenv("LAMBDA_TASK_ROOT", "/var/task")
        at = fail_in_span(XRayTracer())

    subsegment = emitted[0]
    assert subsegment.annotations == {
        "a_b": "c",
        "enqueued_by": "1-0af76519-16cd43dd8448eb211c80319c",
        "error_type": "ValueError",
    }
    assert at.parent.split("-")[2] == subsegment.id
    assert subsegment.fault and "4111-private" not in subsegment.serialize()


def test_async_attempts_end_their_own_subsegments(
    direct_queue: Queue, xray_recorder: Any, emitted: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def handler(_payload: Any) -> None:
        # The first one ends before the second one.
        await asyncio.sleep(0)

    for _ in range(2):
        direct_queue.enqueue()
    with xray_recorder.in_segment("function"):
        monkeypatch.setenv("LAMBDA_TASK_ROOT", "/var/task")
        monkeypatch.setenv("MINUTEHAND_TRACING", "xray")
        endings = run_jobs(
            direct_queue.take(2), HandlerTable({"echo": handler}), stopping=lambda: False, concurrency=2
        )

    assert [ending.ending for ending in endings] == ["done", "done"]
