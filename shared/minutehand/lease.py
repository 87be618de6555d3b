"""Lease: a worker's right to one job, and how long it holds."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from heapq import heapify, heappop, heappush
from time import monotonic
from uuid import UUID

from minutehand.database import Database
from minutehand.errors import InvalidJobError, LostError
from minutehand.model.outcome import Cancel
from minutehand.model.worker import UNNAMED, Worker

# The longest time that `extend` gives, as that of `timeout`.
LONGEST = timedelta(hours=24)
# The time until which a lost claim holds: before all others.
LOST = -math.inf


@dataclass(eq=False, kw_only=True)
class Lease:
    """A claim on a job, proved by its ack. It holds until `until`, and longer if nobody else claims the job.

    `duration` is the time of the attempt; `grace` follows it, to write the outcome. All floats are seconds of this
    process's monotonic clock: `holds_until` (half of the grace before `until`; LOST if the claim is lost), `start_by`
    (the job expires unless its attempt has begun), `started` and `ended` (of the attempt), `deadline` (it must end),
    `limit` (the worker ends). `waiting` are jobs of the chunk not yet started.
    """

    id: UUID
    ack: UUID
    database: Database = field(repr=False)
    worker: Worker = UNNAMED
    duration: timedelta
    grace: timedelta
    holds_until: float
    started: float | None = None
    ended: float | None = None
    limit: float = math.inf
    start_by: float = math.inf
    deadline: float = 0.0
    cancelling: str | None = None
    waiting: "WaitingLeases | None" = field(default=None, repr=False)

    @property
    def remaining(self) -> timedelta:
        """The time left for the attempt, never negative."""
        return timedelta(seconds=max(0.0, self.deadline - monotonic()))

    @property
    def ran(self) -> float:
        """The seconds of the attempt, up to now if it has not ended; none before it starts."""
        if self.started is None:
            return 0.0
        return (monotonic() if self.ended is None else self.ended) - self.started

    @property
    def expired(self) -> bool:
        """Whether the job expired while it waited for its first attempt."""
        return monotonic() >= self.start_by

    def start(self, limit: float = math.inf, waiting: "WaitingLeases | None" = None) -> bool:
        """Start the attempt's time. Return False if the lease ran out while the job waited, and the claim is lost.

        The leases of `waiting` are kept as well, as long as this attempt may run.
        """
        now = monotonic()
        end = now + self.duration.total_seconds()
        if end > limit:
            end = limit
        self.limit, self.waiting, self.started, self.ended, self.deadline = limit, waiting, now, None, end
        # `holds_to` in place, because it is true for almost every attempt.
        if self.holds_until >= end and (waiting is None or waiting.first_end >= end):
            return True
        return self._hold(end - now)

    def extend(self, by: timedelta) -> None:
        """Move the deadline to `by` from now, but not past the worker's own end.

        Raises LostError if another worker has the job, or if the lease has ended while limits are set, Cancel if its
        cancellation was requested, and InvalidJobError unless `by` is above zero and at most 24 hours.
        """
        if not timedelta() < by <= LONGEST:
            raise InvalidJobError(
                "extension_is_positive",
                f"the duration of extend must be above zero and at most 24 hours, got {by}",
            )
        self.holds_until = LOST
        if not self._hold(by.total_seconds()):
            raise LostError(
                f"lease lost: job {self.id} was offered to another worker, or its lease ended and another job may have "
                "taken its slot of a limit"
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
                f"lease lost: the lease of job {self.id} ended, and another job may have taken its slot of a limit"
            )
        self.cancelling = rows[0]["cancelling"]
        self._raise_if_cancelling()

    def _raise_if_cancelling(self) -> None:
        if self.cancelling is not None:
            raise Cancel(self.cancelling)

    def _hold(self, seconds: float) -> bool:
        """Keep this claim for the given time, and those of the waiting jobs for as long as they wait."""
        if self.waiting is not None:
            self.waiting.hold(seconds)
        if monotonic() + seconds > self.holds_until:
            _extend([self], [seconds])
        return self.holds_until > LOST

    def holds_to(self, end: float, waiting: "WaitingLeases | None") -> bool:
        """Return whether this claim and those of the waiting jobs hold until a time."""
        return self.holds_until >= end and (waiting is None or waiting.first_end >= end)

    @property
    def until(self) -> float:
        """The time at which the claim ends, unless it is extended."""
        return self.holds_until + self.grace.total_seconds() / 2


class WaitingLeases:
    """The leases of the jobs of a chunk that wait for their turn.

    `first_end` is the time until which all of them hold, or earlier. Another thread may extend them meanwhile. They are
    ordered by their ends once one has to be extended, which short jobs never need.
    """

    def __init__(self, leases: Iterable[Lease]) -> None:
        """Watch the leases of jobs that have been claimed at once."""
        self._left = set(leases)
        # Removes the lease of a job that has its turn. The set's own method, because each job calls it.
        self.discard = self._left.discard
        self._ends: list[tuple[float, int, Lease]] | None = None
        self.first_end = min([lease.holds_until for lease in self._left], default=math.inf)

    def hold(self, seconds: float) -> None:
        """Extend the leases that end within the given time, beyond it."""
        end = monotonic() + seconds
        if self.first_end >= end:
            return
        if (ends := self._ends) is None:
            self._ends = ends = [
                (lease.holds_until, number, lease)
                # A copy made in one step, because the event loop may discard leases meanwhile.
                for number, lease in enumerate(tuple(self._left))
            ]
            heapify(ends)
        ending = [(number, lease) for number, lease in _pop_before(ends, end) if lease in self._left]
        leases = [lease for _, lease in ending]
        try:
            if leases:
                _extend(leases, [seconds + lease.duration.total_seconds() for lease in leases])
        finally:
            for number, lease in ending:
                # A lost one is found at its start.
                if lease.holds_until > LOST:
                    heappush(ends, (lease.holds_until, number, lease))
            self.first_end = ends[0][0] if ends else math.inf


def _pop_before(ends: list[tuple[float, int, Lease]], end: float) -> Iterator[tuple[int, Lease]]:
    while ends and ends[0][0] < end:
        _, number, lease = heappop(ends)
        yield number, lease


def _extend(leases: Sequence[Lease], seconds: Sequence[float]) -> None:
    """Extend leases of one worker in one statement; those that are lost hold until LOST afterwards."""
    times = [timedelta(seconds=each) + lease.grace for each, lease in zip(seconds, leases, strict=True)]
    ids, acks = [lease.id for lease in leases], [lease.ack for lease in leases]
    extended = leases[0].database.run("extend", ids=ids, acks=acks, leases=times)
    rows, now = {row["id"]: row for row in extended}, monotonic()
    for lease, time in zip(leases, times, strict=True):
        row = rows.get(lease.id)
        lease.holds_until = now + (time - lease.grace / 2).total_seconds() if row else LOST
        lease.cancelling = row["cancelling"] if row else None
