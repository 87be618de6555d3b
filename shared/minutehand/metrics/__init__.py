"""Metrics outside CloudWatch: the figures of ticks and invocations, and the events of jobs, as instruments.

`table` declares every metric once. `recording` turns events and figures into values of these metrics, with a bounded
number of series. `otel` passes them to OpenTelemetry, `minutehand.cli.prometheus` to an endpoint of a resident worker.
Nothing here is imported unless MINUTEHAND_METRICS or `minutehand work --metrics-port` asks for it.
"""
