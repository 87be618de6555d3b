"""A claimed job: what a handler is given, and its worker's right to finish it."""

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from time import monotonic
from typing import Any
from uuid import UUID

from minutehand.database import Connection, Database, Record
from minutehand.errors import ConflictError, LostError
from minutehand.payload import encode
from minutehand.retry import Retry


@dataclass(eq=False, kw_only=True)
class Job:
    """One attempt at a job, from its claim to its finish.

    `attempt` counts from 1; `run_at` is the moment it was asked for. Set `result` inside `transaction()` to have
    it kept.
    """

    id: UUID
    ack: UUID
    queue: str
    kind: str
    key: str | None
    payload: Any
    headers: Mapping[str, str]
    priority: int
    attempt: int
    max_attempts: int
    retry: Retry
    timeout: timedelta | None
    enqueued: datetime
    run_at: datetime
    claimed: datetime
    database: Database = field(repr=False)
    lease: timedelta = field(repr=False)
    grace: timedelta = field(repr=False)
    leased: float = field(repr=False)  # this process's monotonic second at which the lease began
    limit: float = field(default=math.inf, repr=False)  # and the one at which the worker itself ends
    deadline: float = field(default=0.0, repr=False)  # and the one at which the attempt's time is up
    settled: bool = field(default=False, repr=False)
    result: object = field(default=None, repr=False)

    @classmethod
    def from_record(cls, record: Record, database: Database, lease: timedelta, grace: timedelta) -> "Job":
        """Build the job that a claim returned."""
        facts = {**record, "attempt": record["attempts"], "retry": Retry.from_json(record["retry"])}
        facts["headers"] = record["headers"] or {}
        known = {name: facts[name] for name in cls.__dataclass_fields__ if name in facts}
        own = min(lease, record["timeout"] or lease)
        return cls(**known, database=database, lease=own, grace=grace, leased=monotonic())

    def begin(self, limit: float = math.inf) -> bool:
        """Start the attempt's time; say False if the lease ran out in the chunk and others have the job by now."""
        self.limit = limit
        if monotonic() - self.leased > self.grace.total_seconds() / 2:
            return self._lease_again(self.lease)
        self.deadline = min(monotonic() + self.lease.total_seconds(), self.limit)
        return True

    @property
    def remaining(self) -> timedelta:
        """How much of this attempt's time is left, never below zero."""
        return timedelta(seconds=max(0.0, self.deadline - monotonic()))

    @property
    def idempotency_key(self) -> str:
        """The same text at every attempt, and another once the job was replaced: for whatever must not act twice."""
        return f"{self.id}-{round(self.enqueued.timestamp() * 1_000_000):x}"

    @property
    def redelivered(self) -> bool:
        """Whether an earlier attempt may have got somewhere."""
        return self.attempt > 1

    @property
    def last(self) -> bool:
        """Whether a failure of this attempt is the job's death."""
        return self.attempt >= self.max_attempts

    @property
    def lateness(self) -> timedelta:
        """How long after its moment the attempt began, by the database's clock."""
        return self.claimed - self.run_at

    def extend(self, by: timedelta) -> None:
        """Keep the claim until `by` from now; raise LostError if another worker has the job.

        The attempt's time grows with it, though not past the end of a Lambda invocation.
        """
        if not self._lease_again(by):
            raise LostError(f"job {self.id} was offered to another worker")

    def _lease_again(self, lease: timedelta) -> bool:
        if not self.database.run("extend", id=self.id, ack=self.ack, lease=lease + self.grace):
            return False
        self.deadline = min(monotonic() + lease.total_seconds(), self.limit)
        return True

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """Commit what you write on this connection together with the job's completion, or neither.

        The only effects that happen exactly once. Raises LostError, and rolls back, if the claim is lost.
        """
        with self.database.transaction(lent=True) as connection:
            yield connection
            result = None if self.result is None else encode(self.result)
            if not self._done(result):
                raise LostError(f"job {self.id} is another worker's by now; nothing was written")
        self.settled = True

    def _done(self, result: str | None) -> bool:
        facts = {"failed": False, "cancelled": False, "result": result, "error": None}
        try:
            return bool(self.database.run("finish", id=self.id, ack=self.ack, **facts))
        except ConflictError:  # it waited for the row, which somebody else has finished meanwhile
            return False
