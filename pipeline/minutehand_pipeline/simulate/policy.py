"""A policy: the settings of dispatcher and workers that a simulation can change."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

from minutehand.model.retry import Retry
from minutehand_pipeline.errors import InputError
from minutehand_pipeline.prices import LIST


@dataclass(frozen=True, kw_only=True)
class Limit:
    """A limit on the offered or running jobs of a queue, a kind or a key, or of a combination. '' matches any."""

    limit: int
    queue: str = ""
    kind: str = ""
    key: str = ""


@dataclass(frozen=True, kw_only=True)
class Policy:
    """How jobs are offered, run and retried. Times are in seconds, memory in megabytes.

    `interval`          from tick to tick; `phase` is the time of the first tick
    `capacity`          maximum jobs that are offered or running; MINUTEHAND_CAPACITY
    `chunk`             jobs per invocation; MINUTEHAND_CHUNK
    `offer_ttl`         until an unclaimed offer lapses; MINUTEHAND_OFFER_TTL
    `concurrency`       maximum concurrent invocations of the worker; other events wait in Lambda's queue
    `limits`            limits on queues, kinds and keys
    `retry`             strategy of every job; None is each job's own, as recorded
    `max_attempts`      of every job; None is each job's own
    `timeout`           of every attempt; None is each job's own
    `recovers`          probability that an attempt beyond the record succeeds
    `worker_timeout`    of an invocation
    `grace`             added to a lease; MINUTEHAND_GRACE
    `latency`           from an offer to the start of its invocation
    `cold`              duration of a cold start; `warm` is how long an idle environment is kept
    `claim`, `finish`   time that a worker needs to claim its jobs, and to finish each job
    `memory_mb`         of a worker; None is as recorded, or 512
    `tick_seconds`      duration of a tick, in a dispatcher of `dispatcher_mb`
    `idle`              until a database that can pause does; `resume` is the time that it needs to resume
    """

    name: str = ""
    interval: float = 60.0
    phase: float = 0.0
    capacity: int = 50
    chunk: int = 1
    offer_ttl: float = 120.0
    concurrency: int | None = None
    limits: tuple[Limit, ...] = ()
    retry: Retry | None = None
    max_attempts: int | None = None
    timeout: float | None = None
    recovers: float = 0.0
    worker_timeout: float = 900.0
    grace: float = 2.0
    latency: float = 0.05
    cold: float = 0.4
    warm: float = 300.0
    claim: float = 0.01
    finish: float = 0.005
    memory_mb: int | None = None
    architecture: str = "arm64"
    tick_seconds: float = 0.1
    dispatcher_mb: int = 512
    idle: float = 300.0
    resume: float = 0.0

    def __post_init__(self) -> None:
        """Check the values. Raises InputError."""
        for error in _errors(self):
            raise InputError(f"the policy {self.name or 'given'}: {error}")


FIELDS = tuple(field.name for field in fields(Policy))
OPTIONAL = {"concurrency", "retry", "max_attempts", "timeout", "memory_mb"}
# Fields with their maximum.
INTEGERS = {
    "capacity": 10_000,
    "chunk": 1000,
    "max_attempts": 1_000_000,
    "memory_mb": 10_240,
    "dispatcher_mb": 10_240,
    "concurrency": 1_000_000,
}
POSITIVE = {"interval": 86_400.0, "offer_ttl": 3600.0, "timeout": 86_400.0, "worker_timeout": 900.0}
NOT_NEGATIVE = (
    "grace",
    "latency",
    "cold",
    "warm",
    "claim",
    "finish",
    "tick_seconds",
    "idle",
    "resume",
    "phase",
)


def _errors(policy: Policy) -> Iterator[str]:
    values = {name: getattr(policy, name) for name in FIELDS}
    yield from _number_errors(
        {name: v for name, v in values.items() if v is not None or name not in OPTIONAL}
    )
    if policy.architecture not in LIST.gb_second:
        yield f"architecture must be {' or '.join(LIST.gb_second)}, got {policy.architecture!r}"
    if not _is_number(policy.recovers, 0, 1):
        yield f"recovers must be a probability from 0 to 1, got {policy.recovers!r}"
    if not _is_number(policy.worker_timeout, 2, 900):
        yield f"worker_timeout must be at least 2 seconds, got {policy.worker_timeout!r}"
    for limit in policy.limits:
        if not (limit.queue or limit.kind or limit.key) or not _is_integer(limit.limit, 0, 2**31):
            yield f"a limit must have a queue, a kind or a key, and a limit of 0 or more, got {limit}"


def _number_errors(values: Mapping[str, Any]) -> Iterator[str]:
    for name, maximum in INTEGERS.items():
        if name in values and not _is_integer(values[name], 1, maximum):
            yield f"{name} must be an integer from 1 to {maximum}, got {values[name]!r}"
    for name, longest in POSITIVE.items():
        if name in values and not _is_number(values[name], 1e-3, longest):
            yield f"{name} must be above 0 and at most {longest:g} seconds, got {values[name]!r}"
    for name in NOT_NEGATIVE:
        if not _is_number(values[name], 0, math.inf):
            yield f"{name} must be 0 seconds or more, got {values[name]!r}"


def _is_integer(value: object, minimum: int, maximum: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and minimum <= value <= maximum


def _is_number(value: object, minimum: float, maximum: float) -> bool:
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and math.isfinite(value)
        and minimum <= value <= maximum
    )
