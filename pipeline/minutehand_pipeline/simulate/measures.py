"""Measures of a simulated window as rows that can be summed: one per queue, and one for dispatcher and database."""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import types as T

from minutehand_pipeline.arrow import arrow_schema
from minutehand_pipeline.prices import gb_seconds
from minutehand_pipeline.simulate.tally import STATES, Tally, milliseconds

# Lateness is counted in bins, each 1 % wider than the one before, so percentiles are accurate to 0.5 %.
FINEST, WIDER = 1e-3, 1.01
# Seconds between two sweeps, in mode sleep.
SWEEP = 6 * 3600.0

SCHEMA = T.StructType(
    [
        T.StructField("policy", T.IntegerType()),
        T.StructField("queue", T.StringType()),  # null for dispatcher and database
        *(T.StructField(state, T.LongType()) for state in STATES),
        T.StructField("attempts", T.LongType()),
        T.StructField("invocations", T.DoubleType()),
        T.StructField("cold", T.DoubleType()),
        T.StructField("gb_seconds", T.DoubleType()),
        T.StructField("late_seconds", T.DoubleType()),  # the sum
        T.StructField("late_max", T.DoubleType()),
        T.StructField("bins", T.ArrayType(T.IntegerType())),
        T.StructField("counts", T.ArrayType(T.LongType())),
        T.StructField("ticks", T.LongType()),
        T.StructField("tick_gb_seconds", T.DoubleType()),
        T.StructField("awake_seconds", T.DoubleType()),
    ]
)


def rows(number: int, tally: Tally, since: float, until: float) -> list[dict[str, Any]]:
    """Return the rows of one policy over the window [since, until), in seconds since 1970."""
    return [*_queue_rows(number, tally), _dispatcher_row(number, tally, since, until)]


def to_table(found: Iterable[dict[str, Any]]) -> pa.Table:
    """Return rows as an Arrow table."""
    return pa.Table.from_pylist(list(found), schema=arrow_schema(SCHEMA))


def bin_of(seconds: Any) -> Any:
    """Return the bins of lateness values. Below a millisecond it is 0."""
    return np.ceil(np.log(np.maximum(seconds, FINEST) / FINEST) / math.log(WIDER) - 1e-9).astype(int)


def _queue_rows(number: int, tally: Tally) -> Iterable[dict[str, Any]]:
    queue_of, late = tally.lateness()
    bins = bin_of(late)
    for queue, (name, states) in enumerate(zip(tally.jobs.queues, tally.states(), strict=True)):
        in_queue = queue_of == queue
        found, counts = np.unique(bins[in_queue], return_counts=True)
        yield {
            "policy": number,
            "queue": name,
            **{state: states[state] for state in STATES},
            "attempts": tally.attempts[queue],
            "invocations": tally.invocations[queue],
            "cold": tally.cold[queue],
            "gb_seconds": tally.gb_seconds[queue],
            "late_seconds": float(late[in_queue].sum()),
            "late_max": float(late[in_queue].max()) if in_queue.any() else None,
            "bins": found.tolist(),
            "counts": counts.tolist(),
        }


def _dispatcher_row(number: int, tally: Tally, since: float, until: float) -> dict[str, Any]:
    policy = tally.policy
    ticks = _tick_times(tally, since, until)
    per_tick = gb_seconds(milliseconds(policy.tick_seconds), policy.dispatcher_mb)
    return {
        "policy": number,
        "ticks": len(ticks),
        "awake_seconds": _awake_seconds(tally, ticks, since, until),
        "tick_gb_seconds": len(ticks) * per_tick
        + gb_seconds(milliseconds(tally.waited), policy.dispatcher_mb),
    }


def _tick_times(tally: Tally, since: float, until: float) -> Any:
    """Return when the dispatcher ticks: at every interval, or in mode sleep for wake-ups and for sweeps."""
    policy = tally.policy
    if policy.mode != "sleep":
        return _regular(policy.phase, policy.interval, since, until)
    wakeups = [at for at, _ in tally.ticks if since <= at < until]
    return np.sort(np.concatenate([wakeups, _regular(0.0, SWEEP, since, until)]))


def _regular(phase: float, interval: float, since: float, until: float) -> Any:
    first, last = (math.ceil((moment - phase) / interval - 1e-9) for moment in (since, until))
    return phase + interval * np.arange(first, last)


def _awake_seconds(tally: Tally, ticks: Any, since: float, until: float) -> float:
    """Return the seconds of the window in which a database that pauses when idle would be awake."""
    policy = tally.policy
    if policy.mode != "sleep" and policy.interval <= policy.idle:
        return until - since
    known = np.asarray(tally.jobs.known)
    spans = np.array([*tally.busy, *tally.ticks]).reshape(-1, 2)
    starts = np.concatenate([ticks, known, spans[:, 0]])
    ends = np.concatenate([ticks + policy.tick_seconds, known, spans[:, 1]]) + policy.idle
    order = np.argsort(starts)
    starts, ends = np.clip(starts[order], since, until), np.clip(ends[order], since, until)
    covered = np.maximum.accumulate(np.concatenate([[since], ends[:-1]])) if len(ends) else ends
    return float(np.maximum(0.0, ends - np.maximum(starts, covered)).sum())
