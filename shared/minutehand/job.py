"""A claimed job: what a handler is given, and its worker's right to finish it."""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from time import monotonic
from typing import Any
from uuid import UUID

from minutehand.database import Connection, Database, Record
from minutehand.errors import ConflictError, InvalidJobError, LostError
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
    held: float = field(repr=False)  # this process's monotonic second until which the claim holds
    limit: float = field(default=math.inf, repr=False)  # and the one at which the worker itself ends
    deadline: float = field(default=0.0, repr=False)  # and the one at which the attempt's time is up
    behind: Sequence["Job"] = field(default=(), repr=False)
    settled: bool = field(default=False, repr=False)
    result: object = field(default=None, repr=False)

    @classmethod
    def from_record(cls, record: Record, database: Database, lease: timedelta, grace: timedelta) -> "Job":
        """Build the job that a claim returned."""
        facts = {**record, "attempt": record["attempts"], "retry": Retry.from_json(record["retry"])}
        facts["headers"] = record["headers"] or {}
        known = {name: facts[name] for name in cls.__dataclass_fields__ if name in facts}
        own = min(lease, record["timeout"] or lease)
        held = monotonic() + (own + grace).total_seconds()
        return cls(**known, database=database, lease=own, grace=grace, held=held)

    def begin(self, limit: float = math.inf, behind: Sequence["Job"] = ()) -> bool:
        """Start the attempt's time; say False if the lease ran out in the chunk and others have the job by now.

        `behind` are the jobs of the chunk whose turn comes later: their claims are kept, too.
        """
        self.limit, self.behind = limit, behind
        own = min(self.lease.total_seconds(), limit - monotonic())
        self.deadline = monotonic() + own
        return self._hold(timedelta(seconds=own))

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
        if by <= timedelta():
            raise InvalidJobError("lease_is_positive", "extend by more than nothing")
        self.held = 0.0
        if not self._hold(by):
            raise LostError(f"job {self.id} was offered to another worker")
        self.deadline = min(monotonic() + by.total_seconds(), self.limit)

    def _hold(self, time: timedelta) -> bool:
        """Keep this claim for the time, and those behind for as long as they wait, where they would not hold."""
        for job in self.behind:
            job._keep(time, time + job.lease)
        return self._keep(time, time)

    def _keep(self, needed: timedelta, lease: timedelta) -> bool:
        if monotonic() + (needed + self.grace / 2).total_seconds() <= self.held:
            return True
        kept = self.database.run("extend", id=self.id, ack=self.ack, lease=lease + self.grace)
        self.held = monotonic() + (lease + self.grace).total_seconds() if kept else 0.0
        return bool(kept)

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
