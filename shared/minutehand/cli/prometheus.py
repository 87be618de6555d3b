"""Prometheus: an HTTP endpoint with the metrics of a resident worker."""

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, start_http_server

from minutehand.events import hooks
from minutehand.metrics.recording import Recorder
from minutehand.metrics.table import BOUNDS_MS, METRICS, Metric


class PrometheusInstruments:
    """One instrument for each metric, named `minutehand_` and its name; a counter's name ends with `_total`."""

    def __init__(self, registry: CollectorRegistry) -> None:
        """Create all instruments, so that counters without labels begin at 0, and gauges as unknown (NaN)."""
        self._instruments = {metric.name: _instrument(metric, registry) for metric in METRICS.values()}

    def add(self, metric: Metric, value: int, labels: Mapping[str, str]) -> None:
        """Record a value."""
        instrument = self._instruments[metric.name]
        match instrument.labels(**labels) if labels else instrument:
            case Counter() as counter:
                counter.inc(value)
            case Gauge() as gauge:
                gauge.set(value)
            case Histogram() as histogram:
                histogram.observe(value)

    def forget(self) -> None:
        """Set the gauges to unknown (NaN): 0, or the last value, would say that nothing is late."""
        for instrument in self._instruments.values():
            if isinstance(instrument, Gauge):
                instrument.set(math.nan)


def _instrument(metric: Metric, registry: CollectorRegistry) -> Counter | Gauge | Histogram:
    name = f"minutehand_{metric.name}"
    match metric.kind:
        case "counter":
            return Counter(name, metric.meaning, metric.labels, registry=registry)
        case "gauge":
            gauge = Gauge(name, metric.meaning, metric.labels, registry=registry)
            gauge.set(math.nan)
            return gauge
        case "histogram":
            return Histogram(name, metric.meaning, metric.labels, registry=registry, buckets=BOUNDS_MS)


@contextmanager
def serving(host: str, port: int) -> Iterator[None]:
    """Serve the metrics of this process at http://host:port/metrics. Raises OSError if the port is in use."""
    registry = CollectorRegistry()
    instruments = PrometheusInstruments(registry)
    recorder = Recorder(instruments)
    server, thread = start_http_server(port, host, registry)
    hooks.on("*", recorder.count)
    hooks.on_figures(recorder.measure)
    hooks.on_lost_figures(instruments.forget)
    try:
        yield
    finally:
        hooks.off(recorder.count)
        hooks.off_figures(recorder.measure)
        hooks.off_lost_figures(instruments.forget)
        server.shutdown()
        server.server_close()
        thread.join()
