"""Policy: everything of a dispatcher and its workers that a simulation may change, checked before anything runs."""

import math
from dataclasses import dataclass, fields
from typing import Literal, get_args

from minutehand.model.retry import Retry
from minutehand_pipeline.errors import InputError
from minutehand_pipeline.prices import LIST

Mode = Literal["minute", "prompt", "sleep"]


@dataclass(frozen=True, kw_only=True)
class Limit:
    """At most so many jobs of a queue, a kind or a key (or of several of them together) offered or running at once.

    '' is any, as in `minutehand.control`.
    """

    most: int
    queue: str = ""
    kind: str = ""
    key: str = ""


@dataclass(frozen=True, kw_only=True)
class Policy:
    """How jobs are woken, offered, worked off and tried again. Times are seconds, memory is megabytes.

    `interval`          from tick to tick; in mode sleep the raster of the wake-ups; `phase` shifts the raster
    `capacity`          jobs that may be offered or running at once; MINUTEHAND_CAPACITY
    `chunk`             jobs to an invocation; MINUTEHAND_CHUNK
    `offer_ttl`         until an offer that nobody claimed is made again; MINUTEHAND_OFFER_TTL
    `concurrency`       workers that Lambda runs at once; what is over it waits in Lambda's own queue
    `limits`            controls
    `retry`             the strategy of every job; None is each job's own, as recorded
    `max_attempts`      of every job; None is each job's own
    `timeout`           of every attempt; None is each job's own
    `recovers`          the chance that an attempt beyond what was recorded succeeds; the others fail
    `worker_timeout`    of an invocation, Lambda's longest unless said
    `grace`             what a lease outlasts it by; MINUTEHAND_GRACE
    `latency`           from an offer to the beginning of its invocation
    `cold`              seconds of a cold start; `warm` is how long an environment waits for its next event
    `claim`, `finish`   what a worker needs before its first job, and after each job
    `memory_mb`         of a worker; None is as recorded, and 512 where nothing is
    `tick_seconds`      what a tick takes a dispatcher of `dispatcher_mb`
    `idle`              until a database that can pause pauses; `resume` is what its awakening takes
    `sweep`             from look to look, in mode sleep, for what no wake-up was left for
    """

    name: str = ""
    mode: Mode = "minute"
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
    sweep: float = 4 * 3600.0

    def __post_init__(self) -> None:
        """Refuse what no dispatcher could be set to, in a sentence that names it."""
        for sentence in _faults(self):
            raise InputError(f"the policy {self.name or 'given'}: {sentence}")


FIELDS = tuple(field.name for field in fields(Policy))
WHOLE = {"capacity": 10_000, "chunk": 1000, "max_attempts": 1_000_000, "memory_mb": 10_240, "dispatcher_mb": 10_240,
         "concurrency": 1_000_000}  # fmt: skip
MAY_BE_NONE = {"concurrency", "retry", "max_attempts", "timeout", "memory_mb"}
LONGEST = {
    "interval": 86_400.0,
    "offer_ttl": 3600.0,
    "timeout": 86_400.0,
    "worker_timeout": 900.0,
    "sweep": 7 * 86_400.0,
}
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


def _faults(policy: Policy) -> list[str]:
    said = {name: getattr(policy, name) for name in FIELDS}
    known = {name: value for name, value in said.items() if value is not None or name not in MAY_BE_NONE}
    return [
        *(f"{name} is a whole number from 1 to {most}, not {known[name]!r}"
          for name, most in WHOLE.items() if name in known and not _is_whole(known[name], 1, most)),
        *(f"{name} is more than 0 and at most {most:g} seconds, not {known[name]!r}"
          for name, most in LONGEST.items() if name in known and not _is_number(known[name], 1e-3, most)),
        *(f"{name} is 0 or more seconds, not {known[name]!r}"
          for name in NOT_NEGATIVE if not _is_number(known[name], 0, math.inf)),
        *([] if policy.mode in get_args(Mode) else [f"mode is minute, prompt or sleep, not {policy.mode!r}"]),
        *([] if policy.architecture in LIST.gb_second else
          [f"architecture is {' or '.join(LIST.gb_second)}, not {policy.architecture!r}"]),
        *([] if _is_number(policy.recovers, 0, 1) else [f"recovers is a chance from 0 to 1, not {policy.recovers!r}"]),
        *([] if _is_number(policy.worker_timeout, 2, 900) else ["worker_timeout is at least 2 seconds"]),
        *(f"a limit names a queue, a kind or a key, and a most of 0 or more: {limit}" for limit in policy.limits
          if not (limit.queue or limit.kind or limit.key) or not _is_whole(limit.most, 0, 2**31)),
    ]  # fmt: skip


def _is_whole(value: object, least: int, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _is_number(value: object, least: float, most: float) -> bool:
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and math.isfinite(value)
        and least <= value <= most
    )
