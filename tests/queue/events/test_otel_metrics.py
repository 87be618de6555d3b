"""Metrics of OpenTelemetry, read by the SDK's reader, from the events of jobs and the figures of workers."""

import sys
from collections.abc import Callable, Iterator
from threading import Event as Flag

import pytest
from opentelemetry import metrics
from opentelemetry.sdk.metrics import Counter, Histogram, MeterProvider
from opentelemetry.sdk.metrics.export import (
    AggregationTemporality,
    HistogramDataPoint,
    InMemoryMetricReader,
)

from minutehand.events import hooks
from minutehand.handlers import HandlerTable
from minutehand.metrics.recording import OTHERS, Recorder
from minutehand.metrics.table import METRICS
from minutehand.model.event import Event
from minutehand.operations.jobs import cancel
from minutehand.work import work
from tests.queue.events.stage import breaks, cancels, fails
from tests.queue.stage import Queue

MODULE = "minutehand.metrics.otel"
# The values since the last read, by name and labels; of a histogram, the number of values.
Read = Callable[[], dict[tuple[str, str, str], float]]


@pytest.fixture(scope="session")
def reader() -> InMemoryMetricReader:
    """The metrics of this process, whose meter provider can be set only once."""
    delta = AggregationTemporality.DELTA
    reader = InMemoryMetricReader(preferred_temporality={Counter: delta, Histogram: delta})
    metrics.set_meter_provider(MeterProvider([reader], shutdown_on_exit=False))
    return reader


@pytest.fixture
def read(reader: InMemoryMetricReader, monkeypatch: pytest.MonkeyPatch) -> Iterator[Read]:
    monkeypatch.setenv("MINUTEHAND_METRICS", "otel")
    # A test that imports every module has registered its hooks.
    unload()
    reader.get_metrics_data()
    yield lambda: values(reader)
    unload()


def unload() -> None:
    """Forget the module and its hooks, so that the next event imports it."""
    if module := sys.modules.pop(MODULE, None):
        hooks.off(module.recorder.count)
        hooks.off_figures(module.recorder.measure)
    hooks._load_metrics.cache_clear()


def values(reader: InMemoryMetricReader) -> dict[tuple[str, str, str], float]:
    found: dict[tuple[str, str, str], float] = {}
    data = reader.get_metrics_data()
    scopes = data.resource_metrics[0].scope_metrics if data else ()
    # Another test may have instrumented a web framework.
    (metrics,) = [scope.metrics for scope in scopes if scope.scope.name == "minutehand"] or [()]
    for metric in metrics:
        name = metric.name.removeprefix("minutehand.")
        assert (metric.name[:11], metric.unit) == ("minutehand.", METRICS[name].unit)
        for point in metric.data.data_points:
            labels = point.attributes or {}
            assert tuple(labels) == METRICS[name].labels
            value = point.count if isinstance(point, HistogramDataPoint) else getattr(point, "value", 0)
            found[name, str(labels.get("queue", "")), str(labels.get("kind", ""))] = value
    return found


def test_attempts_are_counted_by_queue_and_kind(queue: Queue, read: Read) -> None:
    for handler in (lambda _: None, breaks, cancels, fails):
        queue.attempt(handler)
    queue.attempt(lambda _: None)

    found = read()

    outcomes = {"done": 2, "retrying": 1, "cancelled": 1, "dead": 1, "created": 5}
    assert {name: found.pop((name, "default", "echo")) for name in outcomes if name != "created"} == {
        name: count for name, count in outcomes.items() if name != "created"
    }
    assert found.pop(("lateness_ms", "default", "echo")) == found.pop(("ran_ms", "default", "echo")) == 5
    assert {name: value for name, value in found.items() if name[2]} == {("created", "", "echo"): 5}


def test_changes_by_operators_are_no_outcomes(queue: Queue, read: Read) -> None:
    job = queue.enqueue()
    cancel(queue.database, [job], actor="ada")

    assert {name: value for name, value in read().items() if name[2]} == {("created", "", "echo"): 1}


def test_resident_worker_records_the_figures_of_its_maintenance(queue: Queue, read: Read) -> None:
    queue.enqueue(key="1")
    queue.enqueue(key="2")

    work(queue.database, HandlerTable({"echo": lambda payload: None}), Flag(), chunk=1, drain=True)
    found = {name: value for (name, _, kind), value in read().items() if not kind}

    assert found["due"] == 2 and found["oldest_due_ms"] > 0
    assert found["taken"] == 2
    assert found["failed_steps"] == found["refused_schedules"] == 0
    assert {"oldest_snapshot_ms", "dead_rows_per_live", "connections_percent"} <= found.keys()
    assert all(not METRICS[name].labels for name in found)


def test_names_beyond_the_limit_share_one_series(queue: Queue, read: Read) -> None:
    hooks.load()
    recorder = Recorder(sys.modules[MODULE].OpenTelemetryInstruments(), most_pairs=2)

    for kind in ("a", "b", "c", "d", "a"):
        recorder.count(Event(name="expired", queue="mail", kind=kind))

    assert {name: value for name, value in read().items() if name[2]} == {
        ("expired", "mail", "a"): 2,
        ("expired", "mail", "b"): 1,
        ("expired", *OTHERS): 2,
    }


def test_missing_library_is_logged_and_costs_no_job(
    queue: Queue, read: Read, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry", None)

    endings = [queue.attempt(lambda _: None)[1].ending for _ in range(2)]

    assert endings == ["done"] * 2
    (record,) = caplog.records
    assert record.getMessage().startswith("MINUTEHAND_METRICS=otel records nothing: install minutehand[otel]")


def test_failing_function_of_figures_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    @hooks.on_figures
    def broken(figures: object) -> None:
        raise RuntimeError(figures)

    try:
        hooks.call_with_figures({"due": 1})
        hooks.call_with_figures({"due": 1})
    finally:
        hooks.off_figures(broken)
    hooks.call_with_figures({"due": 1})

    (record,) = caplog.records
    assert record.getMessage().endswith("failed, and stays registered: RuntimeError")
