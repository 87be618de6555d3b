"""Synthetic arrivals: so many a minute by the hour of the day, with bursts, as chance has it for a seed."""

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from minutehand_pipeline.errors import InputError
from minutehand_pipeline.simulate.arrivals import DONE, FAILED, MEMORY_MB
from minutehand_pipeline.simulate.history import RECORDED

HOUR = 3600  # seconds
MAX_ATTEMPTS = 8
MOST = 100_000_000  # jobs


@dataclass(frozen=True)
class Burst:
    """So many jobs at once, at a minute of every day."""

    minute: int
    jobs: int


@dataclass(frozen=True, kw_only=True)
class Synthetic:
    """An arrival process: Poisson in each hour.

    `rate` is jobs a minute, one number or one for each hour of the day in UTC. An attempt takes `run` seconds on
    average, exponentially distributed, and fails with the chance `fails`.
    """

    rate: tuple[float, ...] = (60.0,)
    days: int = 1
    start: date = date(2026, 1, 1)
    bursts: tuple[Burst, ...] = ()
    run: float = 1.0
    fails: float = 0.0
    queue: str = "default"
    memory_mb: int = MEMORY_MB

    def __post_init__(self) -> None:
        """Refuse what makes no sense, in a sentence."""
        if len(self.rate) not in (1, 24) or not all(0 <= each < math.inf for each in self.rate):
            raise InputError("rate is one number of jobs a minute, or 24 of them, 0 or more")
        if not 1 <= self.days <= 3660 or not 0 <= self.fails < 1 or not 0 <= self.run < 86_400:
            raise InputError("days are 1 to 3660, fails is a chance below 1, run is 0 to 86400 seconds")
        if not 128 <= self.memory_mb <= 10_240:
            raise InputError("memory_mb is 128 to 10240")
        if self.expected > MOST:
            raise InputError(f"that would be {self.expected:,.0f} jobs; at most {MOST:,} are made up")

    @property
    def expected(self) -> float:
        """How many jobs there will be, more or less."""
        hours = 24 // len(self.rate)
        return self.days * (sum(self.rate) * hours * 60 + sum(burst.jobs for burst in self.bursts))

    @property
    def since(self) -> float:
        """When the first day begins, in seconds since 1970."""
        return datetime(self.start.year, self.start.month, self.start.day, tzinfo=UTC).timestamp()


def read_synthetic(text: str) -> Synthetic:
    """Read a text such as `rate=60,days=7,burst=09:00+500,run=0.8,fails=0.05`; raises InputError.

    Several numbers of a rate, and several bursts, stand between slashes.
    """
    made = Synthetic()
    for part in filter(None, text.split(",")):
        name, _, said = part.partition("=")
        try:
            made = replace(made, **_READ[name.strip()](said.strip()))
        except KeyError:
            raise InputError(f"{name!r} is no part of an arrival process: {', '.join(_READ)}") from None
        except ValueError:
            raise InputError(
                f"{part!r} cannot be read: such as rate=60, burst=09:00+500 or start=2026-01-31"
            ) from None
    return made


def synthetic_arrivals(spark: SparkSession, process: Synthetic, seed: int) -> DataFrame:
    """Return the arrivals, with the columns of a recorded history; those of an hour are the same in any partition."""
    hours = spark.range(process.days * 24)
    return hours.mapInArrow(_maker(process, seed), RECORDED)


def _maker(process: Synthetic, seed: int) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def make(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for hour in batch.column(0).to_pylist():
                yield from hour_of(process, seed, hour)

    return make


def hour_of(process: Synthetic, seed: int, hour: int) -> Iterator[pa.RecordBatch]:
    """Yield the arrivals of an hour, counted from the first day on; an hour without any yields nothing."""
    chance = np.random.default_rng([seed % 2**32, hour])
    of_day = hour % 24
    by_chance = chance.uniform(0, HOUR, chance.poisson(process.rate[of_day % len(process.rate)] * 60))
    bursts = [
        np.full(burst.jobs, burst.minute % 60 * 60.0)
        for burst in process.bursts
        if burst.minute // 60 == of_day
    ]
    at = np.sort(np.concatenate([by_chance, *bursts]))
    if not len(at):
        return
    tries = np.minimum(chance.geometric(1 - process.fails, len(at)), MAX_ATTEMPTS + 1)
    dead = tries > MAX_ATTEMPTS
    counts = np.minimum(tries, MAX_ATTEMPTS)
    due = process.since + hour * HOUR + at
    yield _batch(process, due, chance.integers(-(2**63), 2**63, len(at)), counts, dead, chance)


def _batch(process: Synthetic, due: Any, die: Any, counts: Any, dead: Any, chance: Any) -> pa.RecordBatch:
    offsets = pa.array(np.concatenate([[0], np.cumsum(counts)]), pa.int32())
    runs = np.round(chance.exponential(process.run, counts.sum()), 6)
    outcomes = np.full(counts.sum(), FAILED)
    outcomes[np.cumsum(counts)[~dead] - 1] = DONE
    jobs = len(due)
    columns = {
        "known": pa.array(due), "due": pa.array(due), "queue": pa.array([process.queue] * jobs),
        "kind": pa.array(["synthetic"] * jobs), "key": pa.nulls(jobs, pa.string()),
        "priority": pa.array(np.full(jobs, 5), pa.int32()), "die": pa.array(die, pa.int64()),
        "max_attempts": pa.array(np.full(jobs, MAX_ATTEMPTS), pa.int32()), "timeout": pa.nulls(jobs, pa.float64()),
        "retry": pa.nulls(jobs, pa.string()), "memory_mb": pa.array(np.full(jobs, process.memory_mb), pa.int32()),
        "runs": pa.ListArray.from_arrays(offsets, pa.array(runs)),
        "outcomes": pa.ListArray.from_arrays(offsets, pa.array(outcomes, pa.int32())),
        "gaps": pa.ListArray.from_arrays(offsets, pa.array(np.zeros(len(runs)))),
        "state": pa.nulls(jobs, pa.string()), "began": pa.nulls(jobs, pa.float64()),
        "gb_seconds": pa.nulls(jobs, pa.float64()),
    }  # fmt: skip
    return pa.RecordBatch.from_pydict(columns)


def _burst(text: str) -> Burst:
    found = re.fullmatch(r"(\d\d):(\d\d)\+(\d+)", text)
    if found is None or int(found[1]) > 23 or int(found[2]) > 59:
        raise ValueError(text)
    return Burst(int(found[1]) * 60 + int(found[2]), int(found[3]))


_READ: dict[str, Callable[[str], dict[str, Any]]] = {
    "rate": lambda said: {"rate": tuple(float(each) for each in said.split("/"))},
    "burst": lambda said: {"bursts": tuple(_burst(each) for each in said.split("/"))},
    "days": lambda said: {"days": int(said)},
    "start": lambda said: {"start": date.fromisoformat(said)},
    "run": lambda said: {"run": float(said)},
    "fails": lambda said: {"fails": float(said)},
    "memory_mb": lambda said: {"memory_mb": int(said)},
    "queue": lambda said: {"queue": said},
}
