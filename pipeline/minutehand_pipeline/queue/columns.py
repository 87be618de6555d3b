"""The SQL expressions that compute the lake's columns from the queue's tables, by home and column."""

# Types that Arrow does not have, such as domains, are sent as text or as their base type. Arrow and Parquet have no
# infinite times: those of columns without the domain `finite_time` become null.
_TEXTS = ("id", "ack", "tenant", "queue", "kind", "key", "payload", "headers", "retry", "result", "error")

JOBS = {
    "day": "(deleted at time zone 'UTC')::date",
    **{name: f"{name}::text" for name in _TEXTS},
    # The same as minutehand.state, for finished jobs.
    "state": "case when not failed then 'done' when cancelled then 'cancelled'"
    " when attempts = 0 and expires is not null then 'expired' else 'dead' end",
    "enqueued": "case when isfinite(enqueued) then enqueued end",
    "run_at": "run_at::timestamptz",
    "visible": "visible::timestamptz",
    "claimed": "case when isfinite(claimed) then claimed end",
    "deleted": "deleted",
    "attempts": "attempts",
    "max_attempts": "max_attempts::integer",
    "priority": "priority::integer",
    "timeout": "extract(epoch from timeout)::double precision",
    "failed": "failed",
    "cancelled": "cancelled",
    "personal": "personal",
    "every": "every",
    "zone": "zone",
    "nominal": "nominal::timestamptz",
    "schedule": "schedule",
    "version": "version",
    "on_dead": "on_dead::text",
    "group": '"group"::text',
    "batch": "batch::text",
    "after": "to_json(after)::text",
    "after_failure": "after_failure",
    "expires": "extract(epoch from expires)::double precision",
}

ATTEMPTS = {
    "day": "(ended at time zone 'UTC')::date",
    "job": "job::text",
    "attempt": "attempt",
    "started": "case when isfinite(started) then started end",
    "ended": "ended",
    "tenant": "tenant::text",
    "queue": "queue",
    "kind": "kind",
    "outcome": "outcome",
    "memory_mb": "memory_mb",
    "worker": "worker",
    "request": "request",
    "version": "version",
    "error": "error::text",
    "result": "result::text",
}

EVENTS = {
    "day": "(at at time zone 'UTC')::date",
    "id": "id::text",
    "at": "at",
    "tenant": "tenant::text",
    "name": "name",
    "job": "job::text",
    "queue": "queue",
    "kind": "kind",
    "facts": "facts::text",
}

EXPRESSIONS = {"jobs_done": JOBS, "attempts": ATTEMPTS, "events": EVENTS}
