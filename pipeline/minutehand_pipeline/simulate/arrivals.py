"""Arrivals: the input of a simulation, one job per row with its recorded attempts."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import types as T

from minutehand_pipeline.simulate.names import Names

# Outcomes of an attempt, as far as they determine what happens next. FINAL is a failure that is not retried. BACK is
# a snooze or a release: the job comes back without a failure.
DONE, FAILED, FINAL, BACK, LAPSED, CANCELLED = range(6)

# `known` and `due` are in seconds since 1970. `salt` seeds a job's random numbers, so that they do not depend on
# partitioning. `batch` is the job's batch, and `follows` the one whose callback it is. `runs`, `outcomes` and `gaps`
# have one entry per recorded attempt: its seconds, its outcome, and the seconds until the next attempt. `timeout` and
# `retry` may be null.
SCHEMA = T.StructType(
    [
        T.StructField("known", T.DoubleType()),
        T.StructField("due", T.DoubleType()),
        T.StructField("queue", T.StringType()),
        T.StructField("kind", T.StringType()),
        T.StructField("key", T.StringType()),
        T.StructField("group", T.StringType()),
        T.StructField("tenant", T.StringType()),
        T.StructField("batch", T.StringType()),
        T.StructField("follows", T.StringType()),
        T.StructField("priority", T.IntegerType()),
        T.StructField("salt", T.LongType()),
        T.StructField("max_attempts", T.IntegerType()),
        T.StructField("timeout", T.DoubleType()),
        T.StructField("retry", T.StringType()),
        T.StructField("memory_mb", T.IntegerType()),
        T.StructField("runs", T.ArrayType(T.DoubleType())),
        T.StructField("outcomes", T.ArrayType(T.IntegerType())),
        T.StructField("gaps", T.ArrayType(T.DoubleType())),
    ]
)

# The template's default memory of a worker, for jobs whose attempts have none.
MEMORY_MB = 512


@dataclass(frozen=True)
class Arrivals:
    """A window's jobs as columns, ordered by when they were known. `first` is the index of a job's first attempt.

    Columns are lists: the engine reads single numbers, which is slow with arrays.
    """

    known: list[float]
    due: list[float]
    queue: list[int]
    priority: list[int]
    salt: list[int]
    max_attempts: list[int]
    timeout: list[float]
    retry: list[str | None]
    memory_mb: list[int]
    first: list[int]
    runs: list[float]
    outcomes: list[int]
    gaps: list[float]
    queues: tuple[str, ...]
    # Of each job; empty if neither limits nor groups need them.
    names: list[Names]
    # The batch of each job that is in one, and the jobs that are the callback of one.
    batch: dict[int, str]
    callbacks: dict[str, list[int]]
    counted: "np.ndarray[Any, np.dtype[np.bool_]]"

    def __len__(self) -> int:
        """Return the number of jobs."""
        return len(self.known)


def read_arrivals(table: pa.Table, since: float, until: float, *, with_names: bool) -> Arrivals:
    """Convert Spark's rows. Jobs due in [since, until) are counted; the others only compete for workers."""
    table = table.take(order(table))
    due = _numbers(table, "due")
    queues, queue = np.unique(table["queue"].to_numpy(zero_copy_only=False).astype(str), return_inverse=True)
    runs = table["runs"].combine_chunks()
    return Arrivals(
        known=_numbers(table, "known").tolist(),
        due=due.tolist(),
        queue=queue.tolist(),
        priority=table["priority"].to_pylist(),
        salt=table["salt"].to_pylist(),
        max_attempts=table["max_attempts"].to_pylist(),
        timeout=_numbers(table, "timeout", np.inf).tolist(),
        retry=table["retry"].to_pylist(),
        memory_mb=_numbers(table, "memory_mb", MEMORY_MB).astype(int).tolist(),
        first=_offsets(runs).tolist(),
        runs=runs.flatten().to_numpy(zero_copy_only=False).tolist(),
        outcomes=table["outcomes"].combine_chunks().flatten().to_pylist(),
        gaps=table["gaps"].combine_chunks().flatten().to_numpy(zero_copy_only=False).tolist(),
        queues=tuple(str(name) for name in queues),
        names=_names(table) if with_names or table["group"].null_count < len(table) else [],
        batch=dict(_present(table, "batch")),
        callbacks=_callbacks(table),
        counted=(due >= since) & (due < until),
    )


def order(table: pa.Table) -> Any:
    """Return the order by when a job was known, then by salt, so that results do not depend on the input order."""
    return np.lexsort((table["salt"].to_numpy(), _numbers(table, "due"), _numbers(table, "known")))


def _numbers(table: pa.Table, name: str, missing: float = 0.0) -> Any:
    return table[name].cast(pa.float64()).fill_null(missing).to_numpy()


def _offsets(lists: Any) -> Any:
    """Return the index at which each list starts, and at which the last one ends."""
    return np.concatenate([[0], np.cumsum(lists.value_lengths().to_numpy(zero_copy_only=False))]).astype(int)


def _names(table: pa.Table) -> list[Names]:
    columns = [
        table[name].fill_null("").to_pylist() if name in table.column_names else [""] * len(table)
        for name in Names._fields
    ]
    return [Names(*each) for each in zip(*columns, strict=True)]


def _callbacks(table: pa.Table) -> dict[str, list[int]]:
    """Return the callbacks of each batch that has jobs among the arrivals."""
    batches = set(table["batch"].unique().to_pylist())
    found: dict[str, list[int]] = {}
    for job, batch in _present(table, "follows"):
        if batch in batches:
            found.setdefault(batch, []).append(job)
    return found


def _present(table: pa.Table, name: str) -> Iterator[tuple[int, str]]:
    if table[name].null_count == len(table):
        return
    yield from ((job, value) for job, value in enumerate(table[name].to_pylist()) if value is not None)
