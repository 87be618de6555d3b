"""A policy: the settings of dispatcher and workers that a simulation can change."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from minutehand.model.retry import Retry
from minutehand_pipeline.errors import InputError
from minutehand_pipeline.prices import LIST
from minutehand_pipeline.simulate.names import PER, Names


@dataclass(frozen=True, kw_only=True)
class Limit:
    """A limit on the offered or running jobs of a queue, kind, key, group or tenant, or of a combination.

    '' matches any. With `per`, a group, key or tenant each, it holds for every value of that.
    """

    limit: int
    queue: str = ""
    kind: str = ""
    key: str = ""
    group: str = ""
    tenant: str = ""
    per: str = ""

    def applies(self, names: Names) -> bool:
        """Whether it limits a job with these names."""
        wanted = (self.queue, self.kind, self.key, self.group, self.tenant)
        matches = all(each in ("", found) for each, found in zip(wanted, names, strict=True))
        return matches and (not self.per or bool(getattr(names, self.per)))

    def value(self, names: Names) -> tuple[str, str, str]:
        """Return the value that it is per, which is of a tenant and a queue if it is a group or a key."""
        if not self.per:
            return "", "", ""
        value: str = getattr(names, self.per)
        return ("", "", value) if self.per == "tenant" else (names.tenant, names.queue, value)

    def replaces(self, other: "Limit") -> bool:
        """Whether it takes the place of a limit per group, key or tenant, with the same other names."""
        if not other.per or self.per or not getattr(self, other.per):
            return False
        return replace(self, limit=other.limit, per=other.per, **{other.per: ""}) == other


@dataclass(frozen=True, kw_only=True)
class Policy:
    """How jobs are offered, run and retried. Times are in seconds, memory in megabytes.

    `mode`              minute, prompt or sleep; MINUTEHAND_MODE
    `interval`          from tick to tick; `phase` is the time of the first tick
    `capacity`          maximum jobs that are offered or running; MINUTEHAND_CAPACITY
    `chunk`             jobs per invocation; MINUTEHAND_CHUNK
    `jobs_per_invocation`  maximum jobs of an invocation, with those that it takes; MINUTEHAND_JOBS_PER_INVOCATION
    `offer_ttl`         until an unclaimed offer lapses; MINUTEHAND_OFFER_TTL
    `concurrency`       maximum concurrent invocations of the worker; other events wait in Lambda's queue
    `limits`            limits on queues, kinds, keys, groups and tenants
    `priority_step`     wait for which a job counts one priority higher
    `retry`             strategy of every job; None is each job's own, as recorded
    `max_attempts`      of every job; None is each job's own
    `timeout`           of every attempt; None is each job's own
    `recovers`          probability that an attempt beyond the record succeeds
    `worker_timeout`    of an invocation
    `grace`             added to a lease; MINUTEHAND_GRACE
    `wakeup_delay`      maximum delay of a wake-up after its minute, in mode sleep
    `latency`           from an offer to the start of its invocation
    `cold`              duration of a cold start; `warm` is how long an idle environment is kept
    `claim`, `finish`   time that a worker needs to claim its jobs, and to finish each job
    `memory_mb`         of a worker; None is as recorded, or 512
    `tick_seconds`      duration of a tick, in a dispatcher of `dispatcher_mb`
    `idle`              until a database that can pause does; `resume` is the time that it needs to resume
    """

    name: str = ""
    mode: str = "minute"
    interval: float = 60.0
    phase: float = 0.0
    capacity: int = 50
    chunk: int = 1
    jobs_per_invocation: int = 100
    offer_ttl: float = 120.0
    concurrency: int | None = None
    limits: tuple[Limit, ...] = ()
    priority_step: float = 3600.0
    retry: Retry | None = None
    max_attempts: int | None = None
    timeout: float | None = None
    recovers: float = 0.0
    worker_timeout: float = 900.0
    grace: float = 2.0
    wakeup_delay: float = 60.0
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


MODES = ("minute", "prompt", "sleep")
FIELDS = tuple(field.name for field in fields(Policy))
OPTIONAL = {"concurrency", "retry", "max_attempts", "timeout", "memory_mb"}
# Fields with their maximum.
INTEGERS = {
    "capacity": 10_000,
    "chunk": 1000,
    "jobs_per_invocation": 10_000,
    "max_attempts": 1_000_000,
    "memory_mb": 10_240,
    "dispatcher_mb": 10_240,
    "concurrency": 1_000_000,
}
POSITIVE = {
    "priority_step": 1e10,
    "interval": 86_400.0,
    "offer_ttl": 3600.0,
    "timeout": 86_400.0,
    "worker_timeout": 900.0,
}
NOT_NEGATIVE = (
    "wakeup_delay",
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
    if not isinstance(policy.name, str):
        yield f"name must be a text, got {policy.name!r}"
    if policy.architecture not in tuple(LIST.gb_second):
        yield f"architecture must be {' or '.join(LIST.gb_second)}, got {policy.architecture!r}"
    if not _is_number(policy.recovers, 0, 1):
        yield f"recovers must be a probability from 0 to 1, got {policy.recovers!r}"
    if not _is_number(policy.worker_timeout, 2, 900):
        yield f"worker_timeout must be at least 2 seconds, got {policy.worker_timeout!r}"
    if policy.mode not in MODES:
        yield f"mode must be {' or '.join(MODES)}, got {policy.mode!r}"
    for limit in policy.limits:
        scope = (limit.queue, limit.kind, limit.key, limit.group, limit.tenant, limit.per)
        if not all(isinstance(each, str) for each in scope):
            yield f"queue, kind, key, group, tenant and per of a limit must be texts, got {limit}"
        elif not any(scope) or limit.per not in ("", *PER) or not _is_integer(limit.limit, 0, 2**31):
            yield f"a limit must have a queue, kind, key, group, tenant or per, and a limit of 0 or more, got {limit}"


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
