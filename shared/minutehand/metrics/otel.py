"""OpenTelemetry metrics, by the meter provider that your program or its Lambda layer configures.

Its import registers the hooks. MINUTEHAND_METRICS=otel imports it at the first event or tick.
"""

from collections.abc import Callable, Mapping

from opentelemetry import metrics

from minutehand.events import hooks
from minutehand.metrics.recording import Recorder
from minutehand.metrics.table import BOUNDS_MS, Metric

Add = Callable[[int, Mapping[str, str]], None]


class OpenTelemetryInstruments:
    """One instrument for each metric, named `minutehand.` and its name, of the current meter provider."""

    def __init__(self) -> None:
        """Create no instrument yet: a provider may be set later, and most processes need few."""
        self._adds: dict[str, Add] = {}

    def add(self, metric: Metric, value: int, labels: Mapping[str, str]) -> None:
        """Record a value."""
        add = self._adds.get(metric.name)
        if add is None:
            add = self._adds[metric.name] = _add(metric)
        add(value, labels)


def _add(metric: Metric) -> Add:
    meter = metrics.get_meter("minutehand")
    name, unit, meaning = f"minutehand.{metric.name}", metric.unit, metric.meaning
    match metric.kind:
        case "counter":
            return meter.create_counter(name, unit, meaning).add
        case "gauge":
            return meter.create_gauge(name, unit, meaning).set
        case "histogram":
            return meter.create_histogram(
                name, unit, meaning, explicit_bucket_boundaries_advisory=BOUNDS_MS
            ).record


recorder = Recorder(OpenTelemetryInstruments())
hooks.on("*", recorder.count)
hooks.on_figures(recorder.measure)
