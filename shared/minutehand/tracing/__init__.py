"""Tracing: connect the request that enqueued a job with the attempts that run it.

A job stores in its headers the W3C trace context of its enqueuer (`traceparent`, `tracestate`, `baggage`) and a
`correlation-id`. A payload never contains them. Its attempts log the correlation id, and jobs that a handler enqueues
inherit it. With MINUTEHAND_TRACING, each enqueue, tick, claim and attempt is also a span, linked to the enqueuer's.

`context` is the trace of this request or attempt, `spans` creates the spans. `otel` and `xray` implement `span`.
"""
