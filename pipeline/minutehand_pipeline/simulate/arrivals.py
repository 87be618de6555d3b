"""Arrivals: what a simulation is fed, a job a row with its recorded attempts."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import types as T

# What became of an attempt, as far as what comes next depends on it.
DONE, FAILED, FINAL, BACK, LAPSED, CANCELLED = range(6)

# Of a job: when it was known and when it was due (seconds since 1970), who it is, what holds for it, and each recorded
# attempt: its seconds, what became of it, and for one that came back by itself the seconds until its next attempt.
# `die` is what chance is drawn from, the same however the rows are dealt out. Times and strategy may be null.
SCHEMA = T.StructType(
    [
        T.StructField("known", T.DoubleType()),
        T.StructField("due", T.DoubleType()),
        T.StructField("queue", T.StringType()),
        T.StructField("kind", T.StringType()),
        T.StructField("key", T.StringType()),
        T.StructField("priority", T.IntegerType()),
        T.StructField("die", T.LongType()),
        T.StructField("max_attempts", T.IntegerType()),
        T.StructField("timeout", T.DoubleType()),
        T.StructField("retry", T.StringType()),
        T.StructField("memory_mb", T.IntegerType()),
        T.StructField("runs", T.ArrayType(T.DoubleType())),
        T.StructField("outcomes", T.ArrayType(T.IntegerType())),
        T.StructField("gaps", T.ArrayType(T.DoubleType())),
    ]
)

MEMORY_MB = 512  # of a worker that no attempt tells of; the template's default


@dataclass(frozen=True)
class Arrivals:
    """A window's jobs as columns, in the order in which they were known; `first` is where a job's attempts begin.

    Plain lists, since the engine reads one number at a time, which arrays are slow at.
    """

    known: list[float]
    due: list[float]
    queue: list[int]
    priority: list[int]
    die: list[int]
    max_attempts: list[int]
    timeout: list[float]
    retry: list[str | None]
    memory_mb: list[int]
    first: list[int]
    runs: list[float]
    outcomes: list[int]
    gaps: list[float]
    queues: tuple[str, ...]
    named: list[tuple[str, str, str]]  # queue, kind and key, for limits; empty when no limit wants them
    counted: "np.ndarray[Any, np.dtype[np.bool_]]"

    def __len__(self) -> int:
        """Return the number of jobs."""
        return len(self.known)


def read_arrivals(table: pa.Table, since: float, until: float, *, named: bool) -> Arrivals:
    """Read Spark's rows; what is due in [since, until) counts, the rest is only there to compete with it."""
    table = table.take(_order(table))
    due = _numbers(table, "due")
    queues, queue = np.unique(table["queue"].to_numpy(zero_copy_only=False).astype(str), return_inverse=True)
    runs = table["runs"].combine_chunks()
    return Arrivals(
        known=_numbers(table, "known").tolist(), due=due.tolist(), queue=queue.tolist(),
        priority=table["priority"].to_pylist(), die=table["die"].to_pylist(),
        max_attempts=table["max_attempts"].to_pylist(), timeout=_numbers(table, "timeout", np.inf).tolist(),
        retry=table["retry"].to_pylist(), memory_mb=_numbers(table, "memory_mb", MEMORY_MB).astype(int).tolist(),
        first=_offsets(runs).tolist(), runs=runs.flatten().to_numpy(zero_copy_only=False).tolist(),
        outcomes=table["outcomes"].combine_chunks().flatten().to_pylist(),
        gaps=table["gaps"].combine_chunks().flatten().to_numpy(zero_copy_only=False).tolist(),
        queues=tuple(str(name) for name in queues),
        named=_named(table) if named else [], counted=(due >= since) & (due < until),
    )  # fmt: skip


def _order(table: pa.Table) -> Any:
    """By when each was known; ties by the die, so that the same rows are one order however they came."""
    return np.lexsort((table["die"].to_numpy(), _numbers(table, "due"), _numbers(table, "known")))


def _numbers(table: pa.Table, name: str, missing: float = 0.0) -> Any:
    return table[name].cast(pa.float64()).fill_null(missing).to_numpy()


def _offsets(lists: Any) -> Any:
    """Return where each list begins, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(lists.value_lengths().to_numpy(zero_copy_only=False))]).astype(int)


def _named(table: pa.Table) -> list[tuple[str, str, str]]:
    columns = (table[name].fill_null("").to_pylist() for name in ("queue", "kind", "key"))
    return list(zip(*columns, strict=True))
