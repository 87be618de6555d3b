"""Lease: a worker's right to one job, and how long it holds."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from time import monotonic
from typing import Any, Self
from uuid import UUID

from minutehand.database import Database, Record
from minutehand.errors import InvalidJobError, LostError
from minutehand.model.outcome import Cancel
from minutehand.model.retry import Retry
from minutehand.model.worker import UNNAMED, Worker


@dataclass(eq=False, kw_only=True)
class Lease:
    """A claim on a job, proved by its ack. It holds until `until`, and longer if nobody else claims the job.

    `duration` is the time of the attempt; `grace` follows it, to write the outcome. All floats are seconds of this
    process's monotonic clock: `claimed`, `start_by` (the job expires unless its attempt has begun), `started` (the
    attempt began), `deadline` (the attempt must end) and `limit` (the worker itself ends). `waiting` are the leases of
    the chunk's jobs that have not started.
    """

    id: UUID
    ack: UUID
    database: Database = field(repr=False)
    worker: Worker = UNNAMED
    duration: timedelta
    grace: timedelta
    claimed: float
    until: float
    started: float | None = None
    limit: float = math.inf
    start_by: float = math.inf
    deadline: float = 0.0
    cancelling: str | None = None
    waiting: Iterable["Lease"] = field(default=(), repr=False)

    @property
    def remaining(self) -> timedelta:
        """The time left for the attempt, never negative."""
        return timedelta(seconds=max(0.0, self.deadline - monotonic()))

    @property
    def waited(self) -> timedelta:
        """The time from the claim to the start of the attempt, while earlier jobs of the chunk ran."""
        return timedelta(seconds=(monotonic() if self.started is None else self.started) - self.claimed)

    @property
    def expired(self) -> bool:
        """Whether the job expired while it waited for its first attempt."""
        return monotonic() >= self.start_by

    def start(self, limit: float = math.inf, waiting: Iterable["Lease"] = ()) -> bool:
        """Start the attempt's time. Return False if the lease ran out while the job waited, and the claim is lost.

        The leases of `waiting` are kept as well, as long as this attempt may run.
        """
        self.limit, self.waiting, self.started = limit, waiting, monotonic()
        seconds = min(self.duration.total_seconds(), limit - monotonic())
        self.deadline = monotonic() + seconds
        return self._hold(timedelta(seconds=seconds))

    def extend(self, by: timedelta) -> None:
        """Move the deadline to `by` from now, but not past the worker's own end.

        Raises LostError if another worker has the job, or if the lease has ended while limits are set, and Cancel if
        its cancellation was requested.
        """
        if by <= timedelta():
            raise InvalidJobError("lease_is_positive", f"the duration of extend must be above zero, got {by}")
        self.until = 0.0
        if not self._hold(by):
            raise LostError(
                f"lease lost: job {self.id} was offered to another worker,"
                " or it lapsed and another job may have its place under a limit"
            )
        self._raise_if_cancelling()
        self.deadline = min(monotonic() + by.total_seconds(), self.limit)

    def check(self) -> None:
        """Raise LostError under the conditions of `extend`, and Cancel if the job's cancellation was requested."""
        rows = self.database.run("check_claim", id=self.id, ack=self.ack)
        if not rows:
            raise LostError(f"lease lost: job {self.id} was claimed by another worker")
        if rows[0]["void"]:
            raise LostError(
                f"lease lost: job {self.id} lapsed, and another job may have its place under a limit"
            )
        self.cancelling = rows[0]["cancelling"]
        self._raise_if_cancelling()

    def _raise_if_cancelling(self) -> None:
        if self.cancelling is not None:
            raise Cancel(self.cancelling)

    def _hold(self, time: timedelta) -> bool:
        """Keep this claim for the given time, and those of the waiting jobs for as long as they wait."""
        for lease in self.waiting:
            lease._extend_if_needed(time, time + lease.duration)
        return self._extend_if_needed(time, time)

    def _extend_if_needed(self, needed: timedelta, duration: timedelta) -> bool:
        if monotonic() + (needed + self.grace / 2).total_seconds() <= self.until:
            return True
        rows = self.database.run("extend", id=self.id, ack=self.ack, lease=duration + self.grace)
        self.until = monotonic() + (duration + self.grace).total_seconds() if rows else 0.0
        self.cancelling = rows[0]["cancelling"] if rows else None
        return bool(rows)


@dataclass(eq=False, kw_only=True)
class Claim:
    """A job as it was claimed, and the lease on it: all that is needed to finish it.

    `attempt` counts from 1. `run_at` is the time the job was enqueued for; `nominal` is the time that an occurrence of
    a recurring job stands for, even if it was rescheduled.
    """

    id: UUID
    queue: str
    kind: str
    key: str | None
    payload: Any = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    priority: int
    attempt: int
    max_attempts: int
    retry: Retry
    timeout: timedelta | None
    enqueued: datetime
    run_at: datetime
    claimed: datetime
    tenant: str = ""
    every: str | None = None
    zone: str | None = None
    nominal: datetime | None = None
    schedule: str | None = None
    # The result that the job's row has, perhaps encrypted.
    stored_result: Any = field(default=None, repr=False)
    lease: Lease = field(repr=False)

    @classmethod
    def from_record(
        cls,
        record: Record,
        database: Database,
        duration: timedelta,
        grace: timedelta,
        worker: Worker = UNNAMED,
    ) -> Self:
        """Build a claim from the row that a claiming statement returned."""
        duration, now = min(duration, record["timeout"] or duration), monotonic()
        start_within = record.get("start_within")
        lease = Lease(
            id=record["id"],
            ack=record["ack"],
            database=database,
            worker=worker,
            duration=duration,
            grace=grace,
            claimed=now,
            until=now + (duration + grace).total_seconds(),
            start_by=math.inf if start_within is None else now + start_within.total_seconds(),
        )
        facts = {**record, "attempt": record["attempts"], "retry": Retry.from_json(record["retry"])}
        facts["headers"] = record["headers"] or {}
        known = {name: facts[name] for name in cls.__dataclass_fields__ if name in facts}
        return cls(**known, lease=lease)

    @property
    def ack(self) -> UUID:
        """The token that fences every statement about this claim."""
        return self.lease.ack

    @property
    def database(self) -> Database:
        """The database that the job was claimed from."""
        return self.lease.database

    @property
    def last(self) -> bool:
        """Whether a failure of this attempt makes the job dead."""
        return self.attempt >= self.max_attempts
