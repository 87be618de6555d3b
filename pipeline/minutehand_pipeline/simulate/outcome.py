"""Outcome: a tally as rows that add up over windows, one for each queue, and one for dispatcher and database."""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import types as T

from minutehand_pipeline.prices import gb_seconds
from minutehand_pipeline.simulate.tally import STATES, Tally, milliseconds

# Lateness is counted in bins, each 1 % wider than the one before: a percentile is right to half of that.
FINEST, WIDER = 1e-3, 1.01

SCHEMA = T.StructType(
    [
        T.StructField("policy", T.IntegerType()),
        T.StructField("queue", T.StringType()),  # null: the dispatcher and the database
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
ARROW = pa.schema(
    [
        ("policy", pa.int32()), ("queue", pa.string()), *((state, pa.int64()) for state in STATES),
        ("attempts", pa.int64()), ("invocations", pa.float64()), ("cold", pa.float64()), ("gb_seconds", pa.float64()),
        ("late_seconds", pa.float64()), ("late_max", pa.float64()), ("bins", pa.list_(pa.int32())),
        ("counts", pa.list_(pa.int64())), ("ticks", pa.int64()), ("tick_gb_seconds", pa.float64()),
        ("awake_seconds", pa.float64()),
    ]
)  # fmt: skip


def rows(number: int, tally: Tally, since: float, until: float) -> list[dict[str, Any]]:
    """Return the rows of one policy, of the window [since, until) in seconds since 1970."""
    return [*_queues(number, tally), _dispatcher(number, tally, since, until)]


def to_table(found: Iterable[dict[str, Any]]) -> pa.Table:
    """Return rows as Spark takes them."""
    return pa.Table.from_pylist(list(found), schema=ARROW)


def bin_of(seconds: Any) -> Any:
    """Return the bins of latenesses in seconds; below a millisecond it is 0."""
    return np.ceil(np.log(np.maximum(seconds, FINEST) / FINEST) / math.log(WIDER) - 1e-9).astype(int)


def bin_seconds(place: Any) -> Any:
    """Return the seconds that a bin stands for: its middle, by its logarithm."""
    return np.where(np.asarray(place) == 0, 0.0, FINEST * WIDER ** (np.asarray(place) - 0.5))


def _queues(number: int, tally: Tally) -> Iterable[dict[str, Any]]:
    queue_of, late = tally.lateness()
    bins = bin_of(late)
    for queue, (name, states) in enumerate(zip(tally.jobs.queues, tally.states(), strict=True)):
        own = queue_of == queue
        found, counts = np.unique(bins[own], return_counts=True)
        yield {
            "policy": number, "queue": name, **{state: states[state] for state in STATES},
            "attempts": tally.attempts[queue], "invocations": tally.invocations[queue], "cold": tally.cold[queue],
            "gb_seconds": tally.gb_seconds[queue], "late_seconds": float(late[own].sum()),
            "late_max": float(late[own].max()) if own.any() else None,
            "bins": found.tolist(), "counts": counts.tolist(),
        }  # fmt: skip


def _dispatcher(number: int, tally: Tally, since: float, until: float) -> dict[str, Any]:
    policy = tally.policy
    ticks = _ticks(tally, since, until)
    stayed = sum(seconds for at, seconds in tally.stayed if since <= at < until)
    each = gb_seconds(milliseconds(policy.tick_seconds), policy.dispatcher_mb)
    return {
        "policy": number, "ticks": len(ticks), "awake_seconds": _awake(tally, ticks, since, until),
        "tick_gb_seconds": len(ticks) * each + stayed * policy.dispatcher_mb / 1024,
    }  # fmt: skip


def _ticks(tally: Tally, since: float, until: float) -> Any:
    """Return when dispatchers were woken: at every moment of the raster, or for what was due and at every sweep."""
    policy = tally.policy
    if policy.mode != "sleep":
        return _raster(policy.phase, policy.interval, since, until)
    looks = np.array([at for at, _ in tally.looks if since <= at < until])
    return np.union1d(looks, _raster(0.0, policy.sweep, since, until))


def _raster(phase: float, interval: float, since: float, until: float) -> Any:
    first, last = (math.ceil((moment - phase) / interval - 1e-9) for moment in (since, until))
    return phase + interval * np.arange(first, last)


def _awake(tally: Tally, ticks: Any, since: float, until: float) -> float:
    """Return the seconds of the window in which a database that pauses when it is idle would not have."""
    policy = tally.policy
    if policy.mode != "sleep" and policy.interval <= policy.idle:
        return until - since
    known = np.asarray(tally.jobs.known)
    spans = np.array([*tally.busy, *tally.looks]).reshape(-1, 2)
    starts = np.concatenate([ticks, known, spans[:, 0]])
    ends = np.concatenate([ticks + policy.tick_seconds, known, spans[:, 1]]) + policy.idle
    order = np.argsort(starts)
    starts, ends = np.clip(starts[order], since, until), np.clip(ends[order], since, until)
    reach = np.maximum.accumulate(np.concatenate([[since], ends[:-1]])) if len(ends) else ends
    return float(np.maximum(0.0, ends - np.maximum(starts, reach)).sum())
