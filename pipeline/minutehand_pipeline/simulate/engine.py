"""The engine: simulate one policy over one window of arrivals, event by event. It is deterministic for a seed.

It follows tick.py, offer.sql, budget.sql, fan_out.py, claim.sql and work.py. `docs/pipeline/simulate.md` lists what is
left out. This module does not use Spark.
"""

from collections import deque
from dataclasses import dataclass
from heapq import heappop, heappush

from minutehand_pipeline.simulate.arrivals import Arrivals
from minutehand_pipeline.simulate.attempts import FINISH_TIME, Attempts
from minutehand_pipeline.simulate.budgets import Budgets
from minutehand_pipeline.simulate.fleet import Fleet
from minutehand_pipeline.simulate.lanes import Lanes, Limits
from minutehand_pipeline.simulate.policy import Policy
from minutehand_pipeline.simulate.tally import Tally
from minutehand_pipeline.simulate.ticks import NEVER, Ticks

# In place of the time when a job is due again, for a job that is not.
ENDED = -1.0
# Seconds after the last arrival; jobs that take longer remain unfinished.
HORIZON = 30 * 86_400.0


@dataclass(slots=True)
class Invocation:
    """An invocation that Lambda has accepted: when its jobs were offered, when it arrived, and its jobs."""

    offered: float
    arrived: float
    jobs: list[int]


class Simulation:
    """The state of the dispatcher, the workers and the waiting jobs."""

    def __init__(self, policy: Policy, arrivals: Arrivals, seed: int = 0) -> None:
        """Start before the first arrival."""
        self.policy, self.jobs = policy, arrivals
        self.limits = Limits(policy.limits, arrivals.names)
        self.lanes = Lanes(len(arrivals.queues), self.limits)
        self.attempts = Attempts(policy, arrivals, seed)
        self.fleet = Fleet(policy.concurrency, policy.cold, policy.warm)
        self.budgets = Budgets(policy.capacity)
        self.tally = Tally(policy, arrivals)
        self.ticks = Ticks(policy.interval, policy.phase)
        # Jobs that are offered or running, in all and by queue.
        self.busy = 0
        self.busy_by_queue = [0] * len(arrivals.queues)
        self._arrived = 0
        # Ticks in a row that offered nothing, since capacity was last released.
        self._idle_ticks = 0
        # When a waiting job is due, and the job.
        self._waiting: list[tuple[float, int]] = []
        # When a claim ends, its job, and when that is due again.
        self._ends: list[tuple[float, int, float]] = []
        self._not_started: deque[Invocation] = deque()
        self._not_lapsed: deque[Invocation] = deque()
        # When each unclaimed job was offered.
        self._open: dict[int, float] = {}
        self._lapsed: set[int] = set()
        # Jobs with an earlier lapse, which the budget has already counted.
        self._lapsed_before: set[int] = set()

    def run(self) -> Tally:
        """Simulate until nothing is left to happen, and return the counts."""
        horizon = (self.jobs.known[-1] if len(self.jobs) else 0.0) + HORIZON
        while (now := self._next_tick()) <= horizon:
            self._advance(now)
            self._tick(now)
        return self.tally

    def _next_tick(self) -> float:
        """Return the next tick that has something to do, or NEVER."""
        # An offer whose worker may no longer claim it also waits for a tick, to lapse.
        due = (self.lanes.due > 0 and not self._blocked()) or len(self._open) > len(self._lapsed)
        if due or self._not_started:
            return self.ticks.next()
        waiting = self._waiting[0][0] if self._waiting else NEVER
        ends = self._ends[0][0] if self._ends else NEVER
        arrival = self.jobs.known[self._arrived] if self._arrived < len(self.jobs) else NEVER
        return self.ticks.first_from(min(waiting, ends, arrival))

    def _blocked(self) -> bool:
        """Whether due jobs can never be offered, because a limit is 0."""
        changes = self._ends or self._not_started or self._waiting or self._arrived < len(self.jobs)
        return not changes and self._idle_ticks > 1

    def _advance(self, now: float) -> None:
        """Process all events up to a time."""
        while self._not_started and (at := self.fleet.earliest(self._not_started[0].arrived)) <= now:
            self._end_claims(at)
            self._start(self._not_started.popleft(), at)
        self._end_claims(now)
        known, count = self.jobs.known, len(self.jobs)
        while self._arrived < count and known[self._arrived] <= now:
            self._arrive(self._arrived, now)
            self._arrived += 1
        while self._waiting and self._waiting[0][0] <= now:
            due, job = heappop(self._waiting)
            self._come_due(due, job)

    def _arrive(self, job: int, now: float) -> None:
        due = self.jobs.due[job]
        if due > now:
            heappush(self._waiting, (due, job))
        else:
            self.lanes.add(self.jobs.queue[job], self.jobs.priority[job], due, job)

    def _end_claims(self, now: float) -> None:
        """Release the capacity of claims that have ended."""
        ends = self._ends
        while ends and ends[0][0] <= now:
            _, job, due = heappop(ends)
            self._release(job)
            if due != ENDED:
                heappush(self._waiting, (due, job))

    def _release(self, job: int) -> None:
        self._idle_ticks = 0
        self.busy -= 1
        self.busy_by_queue[self.jobs.queue[job]] -= 1
        if self.policy.limits:
            self.limits.release(job)

    def _come_due(self, due: float, job: int) -> None:
        if self.attempts.exhausted(job):
            self.tally.reap(job)
        else:
            self.lanes.add(self.jobs.queue[job], self.jobs.priority[job], due, job)

    def _tick(self, now: float) -> None:
        """Let offers lapse, choose due jobs up to the capacity, and invoke workers."""
        at = self.tally.tick(now)
        budgets = self.budgets.update(self._lapse(now), now)
        room = self.policy.capacity - self.busy
        allowed = {queue: max(0, budget - self.busy_by_queue[queue]) for queue, budget in budgets.items()}
        chosen = self.lanes.choose(room, allowed) if room > 0 and self.lanes.due else []
        self._fan_out(chosen, at)
        self.ticks.last = now
        self._idle_ticks = 0 if chosen else self._idle_ticks + 1

    def _lapse(self, now: float) -> dict[int, int]:
        """Make unclaimed jobs due again; return how many of each queue lapsed for the first time."""
        first_lapses: dict[int, int] = {}
        while self._not_lapsed and self._not_lapsed[0].offered + self.policy.offer_ttl <= now:
            invocation = self._not_lapsed.popleft()
            for job in invocation.jobs:
                if self._open.get(job) != invocation.offered or job in self._lapsed:
                    continue
                self._release(job)
                self._lapsed.add(job)
                queue = self.jobs.queue[job]
                visible = invocation.offered + self.policy.offer_ttl
                self.lanes.add(queue, self.jobs.priority[job], visible, job)
                if job not in self._lapsed_before:
                    first_lapses[queue] = first_lapses.get(queue, 0) + 1
        return first_lapses

    def _fan_out(self, chosen: list[int], at: float) -> None:
        """Offer jobs in chunks of one queue, in the order of their ids, which is the order of arrival."""
        by_queue: dict[int, list[int]] = {}
        for job in sorted(chosen):
            by_queue.setdefault(self.jobs.queue[job], []).append(job)
        chunk = self.policy.chunk
        for jobs in by_queue.values():
            for start in range(0, len(jobs), chunk):
                self._offer(jobs[start : start + chunk], at)

    def _offer(self, jobs: list[int], at: float) -> None:
        for job in jobs:
            if job in self._lapsed:
                self._lapsed.discard(job)
                self._lapsed_before.add(job)
            self._open[job] = at
            self.busy_by_queue[self.jobs.queue[job]] += 1
        self.busy += len(jobs)
        invocation = Invocation(at, at + self.policy.latency, jobs)
        self._not_started.append(invocation)
        self._not_lapsed.append(invocation)

    def _start(self, invocation: Invocation, at: float) -> None:
        """Start an invocation: claim the jobs that are still offered, and run them."""
        cold = self.fleet.start(at)
        began = at + cold
        claimed = [job for job in invocation.jobs if self._claim(job, invocation, began + self.policy.claim)]
        ended = self._work(claimed, began) if claimed else began + self.policy.claim
        self.fleet.occupy(ended)
        self.tally.invocation(invocation.jobs, at, ended, cold > 0)

    def _claim(self, job: int, invocation: Invocation, at: float) -> bool:
        if self._open.get(job) != invocation.offered:
            # It was offered again.
            return False
        if self.policy.limits and at >= invocation.offered + self.policy.offer_ttl:
            # Another job may have taken its place in the limit.
            return False
        if job in self._lapsed:
            self._lapsed.discard(job)
            self.lanes.remove(invocation.offered + self.policy.offer_ttl, job)
            self.busy += 1
            self.busy_by_queue[self.jobs.queue[job]] += 1
        del self._open[job]
        self._lapsed_before.discard(job)
        return True

    def _work(self, jobs: list[int], began: float) -> float:
        """Run claimed jobs one after the other; return when the invocation ends."""
        end = began + self.policy.worker_timeout - FINISH_TIME
        now, longest = began + self.policy.claim, 0.0
        for place, job in enumerate(jobs):
            if not self.attempts.fits(job, place, now, end, longest):
                # Released without an attempt.
                heappush(self._ends, (now, job, now))
                now += self.policy.finish
                continue
            self.tally.start(job, now)
            attempt = self.attempts.run(job, now, end)
            if attempt.died:
                self._lose_worker(jobs[place:], attempt.lease_ends)
                return attempt.ended
            heappush(self._ends, (attempt.ended, job, ENDED if attempt.due is None else attempt.due))
            if attempt.due is None:
                self.tally.end(job, attempt.outcome)
            longest = max(longest, attempt.ended - now)
            now = attempt.ended + self.policy.finish
        return now

    def _lose_worker(self, jobs: list[int], lease_ends: float) -> None:
        """Let the leases of a dead worker lapse: of the job that it ran, and of those that it had only claimed."""
        for place, job in enumerate(jobs):
            self.attempts.lapse(job, started=place == 0)
            self._lapsed_before.add(job)
            heappush(self._ends, (lease_ends, job, lease_ends))
