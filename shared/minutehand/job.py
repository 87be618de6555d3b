"""A claimed job: what a handler is given, and its worker's right to finish it."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from time import monotonic
from typing import Any
from uuid import UUID

from minutehand.database import Connection, Database, Record
from minutehand.errors import ConflictError, InvalidJobError, LostError
from minutehand.model.occurrence import next_of, merge_errors
from minutehand.model.outcome import Cancel, Error
from minutehand.model.payload import encode
from minutehand.model.retry import Retry
from minutehand.settings.table import ENCRYPT_RESULTS


def _tell_nobody(_name: str, **_facts: Any) -> None:
    pass


@dataclass(frozen=True)
class Worker:
    """Who has a claim: the function or process, Lambda's request, its memory, and the version of the code."""

    name: str | None = None
    request: str | None = None
    memory_mb: int | None = None
    version: str | None = None


UNNAMED = Worker()


@dataclass(eq=False, kw_only=True)
class Job:
    """One attempt at a job, from its claim to its finish.

    `attempt` counts from 1; `run_at` is the moment it was asked for, `nominal` the one that an occurrence of what
    recurs stands for, whatever became of it since. What `result` is set to is kept, in `transaction()` too, and if the
    attempt fails as what it had so far.
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
    tenant: str = ""
    every: str | None = None
    zone: str | None = None
    nominal: datetime | None = None
    schedule: str | None = None
    worker: Worker = field(default=UNNAMED, repr=False)
    database: Database = field(repr=False)
    lease: timedelta = field(repr=False)
    grace: timedelta = field(repr=False)
    held: float = field(repr=False)  # this process's monotonic second until which the claim holds
    taken: float = field(repr=False)  # and the one at which it was made
    began: float | None = field(default=None, repr=False)  # and the one at which the attempt's turn came
    limit: float = field(default=math.inf, repr=False)  # and the one at which the worker itself ends
    deadline: float = field(default=0.0, repr=False)  # and the one at which the attempt's time is up
    behind: Sequence["Job"] = field(default=(), repr=False)
    settled: bool = field(default=False, repr=False)
    result: object = field(default=None, repr=False)
    next: UUID | None = field(
        default=None, repr=False
    )  # the occurrence that was born with the end of this one
    cancelling: str | None = field(
        default=None, repr=False
    )  # why it is to end, as far as this worker has looked
    context: Any = field(default=None, repr=False)  # what the handlers' own factory made for this attempt
    tell: Callable[..., None] = field(default=_tell_nobody, repr=False)

    @classmethod
    def from_record(
        cls, record: Record, database: Database, lease: timedelta, grace: timedelta, worker: Worker = UNNAMED
    ) -> "Job":
        """Build the job that a claim returned."""
        facts = {**record, "attempt": record["attempts"], "retry": Retry.from_json(record["retry"])}
        facts["headers"] = record["headers"] or {}
        known = {name: facts[name] for name in cls.__dataclass_fields__ if name in facts}
        own, taken = min(lease, record["timeout"] or lease), monotonic()
        held = taken + (own + grace).total_seconds()
        return cls(**known, worker=worker, database=database, lease=own, grace=grace, held=held, taken=taken)

    def begin(self, limit: float = math.inf, behind: Sequence["Job"] = ()) -> bool:
        """Start the attempt's time; say False if the lease ran out in the chunk and others have the job by now.

        `behind` are the jobs of the chunk whose turn comes later: their claims are kept, too.
        """
        self.limit, self.behind, self.began = limit, behind, monotonic()
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
        """Keep the claim until `by` from now; raise LostError if another worker has the job, and as `check` does.

        The attempt's time grows with it, though not past the end of a Lambda invocation.
        """
        if by <= timedelta():
            raise InvalidJobError("lease_is_positive", "extend by more than nothing")
        self.held = 0.0
        if not self._hold(by):
            raise LostError(f"job {self.id} was offered to another worker")
        self._heed(self.cancelling)
        self.deadline = min(monotonic() + by.total_seconds(), self.limit)
        self.tell("extended", by_ms=round(by.total_seconds() * 1000))

    def check(self) -> None:
        """Raise Cancel if somebody asked for the job's end, and LostError if another worker has it; costs one look.

        Call it between the steps of long work; `extend` looks, too.
        """
        records = self.database.run("check_claim", id=self.id, ack=self.ack)
        if not records:
            raise LostError(f"job {self.id} is another worker's by now")
        self._heed(records[0]["cancelling"])

    def _heed(self, cancelling: str | None) -> None:
        if cancelling is not None:
            raise Cancel(cancelling)

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
        self.cancelling = kept[0]["cancelling"] if kept else None
        return bool(kept)

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """Commit what you write on this connection together with the job's completion, or neither.

        The only effects that happen exactly once. Raises LostError, and rolls back, if the claim is lost.
        """
        with self.database.transaction(raw_errors=True) as connection:
            with self._forgetting_its_result():
                yield connection
            result = None if self.result is None else encode(self.result)
            if not self._done(result):
                raise LostError(f"job {self.id} is another worker's by now; nothing was written")
        self.settled = True

    @contextmanager
    def _forgetting_its_result(self) -> Iterator[None]:
        """Have a block that failed leave nothing of its result: it would tell of what was rolled back."""
        before = self.result
        try:
            yield
        except BaseException:
            self.result = before
            raise

    def _done(self, result: str | None) -> bool:
        try:
            return self.end("done", result)
        except ConflictError:  # it waited for the row, which somebody else has finished meanwhile
            return False

    def end(self, ending: str, result: str | None = None, error: Error | None = None) -> bool:
        """Write that the job is done, dead or cancelled; say False, and write nothing, if the claim is lost.

        A job that recurs has its next occurrence born with it, unless it was cancelled: that ends the recurrence.
        """
        following, fault = self._following() if self.every and ending != "cancelled" else (None, None)
        facts = self.attempt_facts(ending, result, merge_errors(error, fault))
        flags = {"failed": ending != "done", "cancelled": ending == "cancelled", "next": following}
        ended = self.database.run("finish", **facts, **flags)
        self.next = ended[0]["next"] if ended else None
        return bool(ended)

    def attempt_facts(self, ending: str, result: str | None, error: Error | None) -> dict[str, Any]:
        """Return what the statement that settles this claim writes of the attempt."""
        waited = (monotonic() if self.began is None else self.began) - self.taken  # for its turn, in a chunk
        return {
            "id": self.id, "ack": self.ack, "outcome": ending, "started": self.claimed + timedelta(seconds=waited),
            "result": self._kept(result), "error": None if error is None else encode(error), "worker": self.worker.name,
            "request": self.worker.request, "memory_mb": self.worker.memory_mb, "version": self.worker.version,
        }  # fmt: skip

    def _kept(self, result: str | None) -> str | None:
        """Return the result as its row keeps it: encrypted, if results are."""
        if result is None or not ENCRYPT_RESULTS.read():
            return result
        from minutehand.encryption.envelope import (
            encrypt_result,  # here, so that who encrypts nothing does not pay for it
        )

        return encrypt_result(result, self)

    def _following(self) -> tuple[datetime | None, Error | None]:
        """Return the next occurrence's nominal moment, past what was missed by the database's clock."""
        assert self.every
        now = self.database.run("clock")[0]["now"]
        return next_of(self.every, self.zone, self.nominal or self.run_at, now)
