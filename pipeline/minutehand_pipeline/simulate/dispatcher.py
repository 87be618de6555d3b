"""The rows of the queue: due, offered and claimed jobs, and the capacity.

The rules are those of offer.sql, adjust_budgets.sql, `offer_now`, claim.sql, and take.sql with `free_slots`.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

from minutehand_pipeline.simulate.arrivals import Arrivals
from minutehand_pipeline.simulate.budgets import Budgets
from minutehand_pipeline.simulate.lanes import Lanes
from minutehand_pipeline.simulate.limits import Limits
from minutehand_pipeline.simulate.policy import Policy

# Seconds; the offers of an enqueue end after this time at the latest.
LONGEST_PROMPT_OFFER = 45.0


@dataclass(slots=True)
class Invocation:
    """An event of a worker: when its jobs were offered and when these offers lapse, and the jobs of one queue."""

    offered: float
    expires: float
    queue: int
    jobs: list[int]
    # Jobs that it has run, with those that it took.
    ran: list[int] = field(default_factory=list)
    started: float = 0.0
    cold: bool = False
    # When its time ends, the longest of its attempts, and whether it may take further jobs.
    until: float = 0.0
    longest: float = 0.0
    taking: bool = True


class Dispatcher:
    """The state of the queue, and what ticks, enqueues and workers do with it."""

    def __init__(self, policy: Policy, jobs: Arrivals, invite: Callable[[Invocation], None]) -> None:
        """Start with no job. `invite` passes an event to the workers."""
        self.policy, self.jobs, self._invite = policy, jobs, invite
        self.lanes = Lanes(len(jobs.queues), Limits(policy.limits, jobs.names), policy.priority_step)
        self.budgets = Budgets(policy.capacity)
        # Jobs that are offered or running, in all and by queue.
        self.busy = 0
        self._busy_by_queue = [0] * len(jobs.queues)
        # When the last offers were made, and whether they used up the capacity.
        self._counted, self._full = -math.inf, False
        # The event of each unclaimed job.
        self.open: dict[int, Invocation] = {}
        self._expiring: list[tuple[float, int, Invocation]] = []
        self._events = 0
        self._lapsed: set[int] = set()
        # Jobs with an earlier lapse, which the budget has already counted.
        self._lapsed_before: set[int] = set()
        self._missed: dict[int, int] = {}

    @property
    def waits(self) -> bool:
        """Whether a tick has something to do: due jobs, or offers that may lapse."""
        return self.lanes.due > 0 or len(self.open) > len(self._lapsed)

    @property
    def full(self) -> bool:
        """Whether offered and running jobs use up the capacity."""
        return self.busy >= self.policy.capacity

    def add(self, job: int, visible: float) -> None:
        """Add a job that is due."""
        self.lanes.add(self.jobs.queue[job], self.jobs.priority[job], visible, job)

    def dispatch(self, now: float, at: float) -> int:
        """Let offers lapse, offer due jobs up to the capacity, and invoke workers; return the number of jobs."""
        self._lapse(now)
        missed, self._missed = self._missed, {}
        budgets = self.budgets.update(missed, now)
        room = self.policy.capacity - self.busy
        allowed = {queue: max(0, budget - self._busy_by_queue[queue]) for queue, budget in budgets.items()}
        chosen = self.lanes.choose(room, allowed) if room > 0 and self.lanes.due else []
        # Offers are sent in the order of the ids, which is the order of arrival.
        self._offer(sorted(chosen), at, at + self.policy.offer_ttl)
        self._counted, self._full = at, self.full
        return len(chosen)

    def offer_now(self, now: float, jobs: Sequence[int]) -> bool:
        """Offer jobs right after their enqueue; return whether all were. None overtakes another job of its queue."""
        self._lapse(now)
        by_queue: dict[int, list[int]] = {}
        for job in jobs:
            by_queue.setdefault(self.jobs.queue[job], []).append(job)
        offered = [queue for queue, own in by_queue.items() if self._offer_alone(queue, own, now)]
        if offered:
            self._counted, self._full = now, self.full
        return len(offered) == len(by_queue)

    def claim(self, invocation: Invocation, at: float) -> list[int]:
        """Claim the jobs that are still offered."""
        return [job for job in invocation.jobs if self._claim(job, invocation, at)]

    def take(
        self, queue: int, freed: Sequence[float], most: int, now: float, fits: Callable[[int], bool]
    ) -> list[int]:
        """Take the next due jobs of a queue in slots that the worker's jobs have freed at these times."""
        slots = sum(each > self._counted for each in freed)
        lowered = self.budgets.of(queue, now)
        if slots and (self._full or lowered is not None):
            slots = min(slots, self._slots_left(queue, lowered))
        taken: list[int] = []
        while len(taken) < min(slots, most) and (head := self.lanes.head(queue)) and fits(head[2]):
            taken += self.lanes.choose_from(queue, 1)
        self._occupy(queue, len(taken))
        return taken

    def release(self, job: int) -> None:
        """Free the slot of a job that ended."""
        self._occupy(self.jobs.queue[job], -1)
        self.lanes.release(job)

    def forget_lapse(self, job: int) -> None:
        """Do not count the next lapse of a job whose worker died."""
        self._lapsed_before.add(job)

    def _occupy(self, queue: int, number: int) -> None:
        self.busy += number
        self._busy_by_queue[queue] += number

    def _offer_alone(self, queue: int, own: list[int], now: float) -> bool:
        """Offer all these jobs of a queue, unless others of it are due."""
        if len(own) > self.policy.capacity - self.busy or self.budgets.of(queue, now) is not None:
            return False
        if not self.lanes.choose_alone(queue, own):
            return False
        self._offer(own, now, now + min(self.policy.offer_ttl, LONGEST_PROMPT_OFFER))
        return True

    def _slots_left(self, queue: int, lowered: int | None) -> int:
        """Return how many more jobs of a queue may run, by its budget and its share of a capacity that is in use."""
        own, capacity = self._busy_by_queue[queue], self.policy.capacity
        most = capacity if lowered is None else min(capacity, lowered)
        if self._full:
            others = sum(
                busy < own and other != queue and self.lanes.head(other) is not None
                for other, busy in enumerate(self._busy_by_queue)
            )
            most = min(most, max(1, capacity // (1 + others))) if others else most
        return max(0, most - own)

    def _lapse(self, now: float) -> None:
        """Make jobs due again whose offers nobody claimed in time."""
        while self._expiring and self._expiring[0][0] <= now:
            expires, _, invocation = heappop(self._expiring)
            for job in invocation.jobs:
                if self.open.get(job) is not invocation or job in self._lapsed:
                    continue
                self.release(job)
                self._lapsed.add(job)
                self.add(job, expires)
                if job not in self._lapsed_before:
                    self._missed[invocation.queue] = self._missed.get(invocation.queue, 0) + 1

    def _offer(self, jobs: list[int], at: float, expires: float) -> None:
        """Offer jobs in chunks of one queue."""
        by_queue: dict[int, list[int]] = {}
        for job in jobs:
            by_queue.setdefault(self.jobs.queue[job], []).append(job)
        chunk = self.policy.chunk
        for queue, own in by_queue.items():
            self._occupy(queue, len(own))
            for start in range(0, len(own), chunk):
                self._send(Invocation(at, expires, queue, own[start : start + chunk]))

    def _send(self, invocation: Invocation) -> None:
        for job in invocation.jobs:
            if job in self._lapsed:
                self._lapsed.discard(job)
                self._lapsed_before.add(job)
            self.open[job] = invocation
        self._events += 1
        heappush(self._expiring, (invocation.expires, self._events, invocation))
        self._invite(invocation)

    def _claim(self, job: int, invocation: Invocation, at: float) -> bool:
        if self.open.get(job) is not invocation:
            # It was offered again.
            return False
        if at >= invocation.expires and self.lanes.limits.of(job):
            # Another job may have taken its place in the limit.
            return False
        if job in self._lapsed:
            self._lapsed.discard(job)
            self.lanes.remove(invocation.queue, job)
            self.lanes.limits.add(job, 1)
            self._occupy(invocation.queue, 1)
        del self.open[job]
        self._lapsed_before.discard(job)
        return True
