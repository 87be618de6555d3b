"""The trace context of a job: which headers are read, and which are added."""

import pytest

from minutehand import NewJob
from minutehand.tracing.context import TraceContext, inject, use, xray_parent

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
FULL = {"traceparent": PARENT, "tracestate": "a=1", "baggage": "plan=pro", "correlation-id": "r-1"}


def test_context_reads_and_writes_its_headers() -> None:
    assert TraceContext.read(FULL).headers() == FULL
    assert TraceContext.read({"TraceParent": PARENT}).parent == PARENT


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"traceparent": "x"},
        {"traceparent": PARENT.upper()},
        {"traceparent": PARENT.replace("00-", "ff-", 1)},
        {"traceparent": f"00-{'0' * 32}-b7ad6b7169203331-01"},
        {"traceparent": f"{PARENT}-more"},
        {"tracestate": "a=1"},
        {"baggage": "n" * 2049},
        {"baggage": "line\nfeed"},
        {"correlation-id": "n" * 129},
        {"correlation-id": "\u00e9"},
    ],
)
def test_context_ignores_invalid_headers(headers: dict[str, str]) -> None:
    assert TraceContext.read(headers) == TraceContext()


def test_job_gets_the_current_context() -> None:
    with use(TraceContext.read(FULL)):
        job = inject(NewJob("echo", headers={"plan": "pro"}))

    assert job.headers == {"plan": "pro", **FULL}
    assert inject(NewJob("echo")).headers is None


def test_headers_of_the_caller_take_precedence() -> None:
    other = PARENT.replace("0af7", "1bf7")

    with use(TraceContext.read(FULL)):
        job = inject(NewJob("echo", headers={"Traceparent": other, "baggage": "plan=free"}))

    assert job.headers == {"Traceparent": other, "baggage": "plan=free", "correlation-id": "r-1"}


def test_context_is_left_out_if_the_headers_would_be_too_large() -> None:
    large = {"note": "n" * 4000}

    with use(TraceContext.read({**FULL, "baggage": "b" * 200})):
        assert inject(NewJob("echo", headers=large)).headers == large


@pytest.mark.parametrize(
    ("header", "parent"),
    [
        (
            "Root=1-67891233-abcdef012345678912345678;Parent=53995c3f42cd8ad8;Sampled=1",
            "00-67891233abcdef012345678912345678-53995c3f42cd8ad8-01",
        ),
        (
            "Root=1-67891233-abcdef012345678912345678;Parent=53995c3f42cd8ad8;Sampled=0;Lineage=a:b",
            "00-67891233abcdef012345678912345678-53995c3f42cd8ad8-00",
        ),
        ("Root=1-67891233-abcdef012345678912345678", ""),
        ("", ""),
    ],
)
def test_xray_header_becomes_a_traceparent(header: str, parent: str) -> None:
    assert xray_parent(header) == parent
