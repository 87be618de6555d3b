"""A delivered job, as the handler of a route sees it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from time import monotonic
from typing import Any
from uuid import UUID


@dataclass(eq=False, kw_only=True)
class DeliveredJob:
    """A job as a route's handler sees it. Only a local run accepts unsigned deliveries, with `verified` False."""

    id: UUID
    kind: str
    queue: str
    payload: Any = field(repr=False)
    key: str | None = None
    tenant: str = ""
    schedule: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    attempt: int = 1
    max_attempts: int = 1
    enqueued: datetime | None = None
    run_at: datetime | None = None
    nominal: datetime | None = None
    idempotency_key: str = ""
    verified: bool = False
    deadline: float = field(default=math.inf, repr=False)
    context: Any = field(default=None, repr=False)

    @property
    def remaining(self) -> timedelta:
        """The time that the worker still waits for the response, by this machine's clock."""
        return timedelta(seconds=max(0.0, self.deadline - monotonic()))

    @property
    def last(self) -> bool:
        """Whether this is the last attempt."""
        return self.attempt >= self.max_attempts

    @property
    def redelivered(self) -> bool:
        """Whether an earlier attempt may have done part of the work."""
        return self.attempt > 1
