"""Synthetic arrivals: a random process with a rate per hour of the day, and bursts."""

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from minutehand_pipeline.arrow import arrow_schema
from minutehand_pipeline.errors import InputError
from minutehand_pipeline.simulate.arrivals import DONE, FAILED, MEMORY_MB
from minutehand_pipeline.simulate.history import RECORDED

HOUR = 3600  # seconds
MAX_ATTEMPTS = 8
MAX_JOBS = 100_000_000


@dataclass(frozen=True)
class Burst:
    """A number of jobs that arrive together at a minute of every day."""

    minute: int
    jobs: int


@dataclass(frozen=True, kw_only=True)
class Synthetic:
    """A Poisson process with a rate per hour.

    `rate` is in jobs per minute, one number or one for each UTC hour. Attempts take `run` seconds on average,
    exponentially distributed, and fail with the probability `fails`.
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
        """Check the values. Raises InputError."""
        if len(self.rate) not in (1, 24) or not all(0 <= each < math.inf for each in self.rate):
            raise InputError("rate must be one or 24 numbers of jobs per minute, each 0 or more")
        if not 1 <= self.days <= 3660:
            raise InputError(f"days must be from 1 to 3660, got {self.days}")
        if not 0 <= self.fails < 1:
            raise InputError(f"fails must be a probability below 1, got {self.fails}")
        if not 0 <= self.run < 86_400:
            raise InputError(f"run must be from 0 to 86400 seconds, got {self.run}")
        if not 128 <= self.memory_mb <= 10_240:
            raise InputError(f"memory_mb must be from 128 to 10240, got {self.memory_mb}")
        if self.expected > MAX_JOBS:
            raise InputError(
                f"--synthetic must have at most {MAX_JOBS:,} jobs, got {self.expected:,.0f}; lower rate or days"
            )

    @property
    def expected(self) -> float:
        """The expected number of jobs."""
        hours = 24 // len(self.rate)
        return self.days * (sum(self.rate) * hours * 60 + sum(burst.jobs for burst in self.bursts))

    @property
    def since(self) -> float:
        """The start of the first day, in seconds since 1970."""
        return datetime(self.start.year, self.start.month, self.start.day, tzinfo=UTC).timestamp()


def parse_synthetic(text: str) -> Synthetic:
    """Read a text such as `rate=60,days=7,burst=09:00+500,run=0.8,fails=0.05`. Raises InputError.

    Slashes separate several rates or several bursts.
    """
    process = Synthetic()
    for part in filter(None, text.split(",")):
        name, _, value = part.partition("=")
        try:
            process = replace(process, **_PARSERS[name.strip()](value.strip()))
        except KeyError:
            raise InputError(
                f"unknown part {name!r} of --synthetic; expected some of {', '.join(_PARSERS)}"
            ) from None
        except ValueError:
            raise InputError(
                f"expected a part such as rate=60, burst=09:00+500 or start=2026-01-31, got {part!r}"
            ) from None
    return process


def synthetic_arrivals(spark: SparkSession, process: Synthetic, seed: int) -> DataFrame:
    """Return the arrivals with the columns of a recorded history. They do not depend on partitioning."""
    hours = spark.range(process.days * 24)
    return hours.mapInArrow(_generator(process, seed), RECORDED)


def _generator(
    process: Synthetic, seed: int
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def generate(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for hour in batch.column(0).to_pylist():
                yield from generate_hour(process, seed, hour)

    return generate


def generate_hour(process: Synthetic, seed: int, hour: int) -> Iterator[pa.RecordBatch]:
    """Yield the arrivals of an hour, counted from the start of the first day; nothing if it has none."""
    random = np.random.default_rng([seed % 2**32, hour])
    hour_of_day = hour % 24
    rate = process.rate[hour_of_day % len(process.rate)]
    regular = random.uniform(0, HOUR, random.poisson(rate * 60))
    bursts = [
        np.full(burst.jobs, burst.minute % 60 * 60.0)
        for burst in process.bursts
        if burst.minute // 60 == hour_of_day
    ]
    at = np.sort(np.concatenate([regular, *bursts]))
    if not len(at):
        return
    tries = np.minimum(random.geometric(1 - process.fails, len(at)), MAX_ATTEMPTS + 1)
    dead = tries > MAX_ATTEMPTS
    counts = np.minimum(tries, MAX_ATTEMPTS)
    due = process.since + hour * HOUR + at
    yield _batch(process, due, random.integers(-(2**63), 2**63, len(at)), counts, dead, random)


def _batch(process: Synthetic, due: Any, salt: Any, counts: Any, dead: Any, random: Any) -> pa.RecordBatch:
    offsets = pa.array(np.concatenate([[0], np.cumsum(counts)]), pa.int32())
    runs = np.round(random.exponential(process.run, counts.sum()), 6)
    outcomes = np.full(counts.sum(), FAILED)
    outcomes[np.cumsum(counts)[~dead] - 1] = DONE
    jobs = len(due)
    columns = {
        "known": pa.array(due),
        "due": pa.array(due),
        "queue": pa.array([process.queue] * jobs),
        "kind": pa.array(["synthetic"] * jobs),
        "priority": pa.array(np.full(jobs, 5), pa.int32()),
        "salt": pa.array(salt, pa.int64()),
        "max_attempts": pa.array(np.full(jobs, MAX_ATTEMPTS), pa.int32()),
        "memory_mb": pa.array(np.full(jobs, process.memory_mb), pa.int32()),
        "runs": pa.ListArray.from_arrays(offsets, pa.array(runs)),
        "outcomes": pa.ListArray.from_arrays(offsets, pa.array(outcomes, pa.int32())),
        "gaps": pa.ListArray.from_arrays(offsets, pa.array(np.zeros(len(runs)))),
    }
    schema = arrow_schema(RECORDED)
    arrays = [columns.get(field.name, pa.nulls(jobs, field.type)) for field in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _burst(text: str) -> Burst:
    found = re.fullmatch(r"(\d\d):(\d\d)\+(\d+)", text)
    if found is None or int(found[1]) > 23 or int(found[2]) > 59:
        raise ValueError(text)
    return Burst(int(found[1]) * 60 + int(found[2]), int(found[3]))


_PARSERS: dict[str, Callable[[str], dict[str, Any]]] = {
    "rate": lambda text: {"rate": tuple(float(each) for each in text.split("/"))},
    "burst": lambda text: {"bursts": tuple(_burst(each) for each in text.split("/"))},
    "days": lambda text: {"days": int(text)},
    "start": lambda text: {"start": date.fromisoformat(text)},
    "run": lambda text: {"run": float(text)},
    "fails": lambda text: {"fails": float(text)},
    "memory_mb": lambda text: {"memory_mb": int(text)},
    "queue": lambda text: {"queue": text},
}
