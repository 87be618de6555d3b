"""The engine: one policy over one window of arrivals, from event to event, the same for the same arrivals and seed.

It follows tick.py, offer.sql, budget.sql, fan_out.py, claim.sql and work.py; `docs/pipeline/simulate.md` says what is
left out. Nothing here knows Spark.
"""

import math
from collections import deque
from dataclasses import dataclass
from heapq import heappop, heappush

from minutehand_pipeline.simulate.arrivals import Arrivals
from minutehand_pipeline.simulate.attempts import FINISH_TIME, Attempts
from minutehand_pipeline.simulate.budgets import Budgets
from minutehand_pipeline.simulate.fleet import Fleet
from minutehand_pipeline.simulate.lanes import Bounds, Lanes
from minutehand_pipeline.simulate.policy import Policy
from minutehand_pipeline.simulate.tally import Tally
from minutehand_pipeline.simulate.waking import Waking

NEVER = math.inf
ENDED = -1.0
HORIZON = 30 * 86_400.0  # what is not over so long after the last arrival is left unfinished


@dataclass(slots=True)
class Invitation:
    """An invocation that Lambda has accepted: when its jobs were offered, when it arrived, and whom it invites."""

    offered: float
    arrived: float
    jobs: list[int]


class Simulation:
    """A dispatcher, its workers and what waits for them, at a moment."""

    def __init__(self, policy: Policy, arrivals: Arrivals, seed: int = 0) -> None:
        """Begin before the first arrival."""
        self.policy, self.jobs = policy, arrivals
        self.bounds = Bounds(policy.limits, arrivals.named)
        self.lanes = Lanes(len(arrivals.queues), self.bounds)
        self.attempts = Attempts(policy, arrivals, seed)
        self.fleet = Fleet(policy.concurrency, policy.cold, policy.warm)
        self.budgets = Budgets(policy.capacity)
        self.tally = Tally(policy, arrivals)
        self.waking = Waking(policy, self.tally)
        self.busy = 0
        self.busy_of = [0] * len(arrivals.queues)
        self._arrived = 0
        self._waiting: list[tuple[float, int]] = []  # when it is due, job
        self._ends: list[tuple[float, int, float]] = []  # when a claim ends, its job, when that is due again
        self._invited: deque[Invitation] = deque()  # not begun yet
        self._offers: deque[Invitation] = deque()  # not lapsed yet
        self._open: dict[int, float] = {}  # the offers that nobody claimed yet, by job
        self._lapsed: set[int] = set()
        self._again: set[int] = set()  # whose offers have lapsed before: counted once for the budget

    def run(self) -> Tally:
        """Go from event to event until nothing is left to come, and return what was counted."""
        horizon = (self.jobs.known[-1] if len(self.jobs) else 0.0) + HORIZON
        while (now := self._next()) <= horizon:
            self._advance(now)
            if self.waking.looks(now):
                self._look(now)
        return self.tally

    def _next(self) -> float:
        """Return the moment of the next look, or in a mode that hears of arrivals, of what happens before it."""
        # An offer that was told to a worker who may not claim it any more waits for a look, too, to lapse.
        due = (self.lanes.due > 0 and not self._stuck()) or len(self._open) > len(self._lapsed)
        waits = self._waiting[0][0] if self._waiting else NEVER
        if self.waking.hears:
            soonest = min(self._soonest(), self._arrival())
            outstanding = due or waits < NEVER or soonest < NEVER or len(self._open) > 0
            return min(soonest, self.waking.expect(due=due, waits=waits, outstanding=outstanding))
        if due or self._invited:
            return self.waking.raster_after(self.waking.last)
        ends = self._ends[0][0] if self._ends else NEVER
        return self.waking.raster_from(min(waits, ends, self._arrival()))

    def _stuck(self) -> bool:
        """Whether what is due stays due for ever, since a limit is 0."""
        moves = self._ends or self._invited or self._waiting or self._arrived < len(self.jobs)
        return not moves and self.waking.vain > 1

    def _arrival(self) -> float:
        return self.jobs.known[self._arrived] if self._arrived < len(self.jobs) else NEVER

    def _soonest(self) -> float:
        """Return when the next claim ends or the next invocation begins."""
        ends = self._ends[0][0] if self._ends else NEVER
        return min(ends, self.fleet.earliest(self._invited[0].arrived)) if self._invited else ends

    def _advance(self, now: float) -> None:
        """Let everything happen that does until a moment."""
        while self._invited and (at := self.fleet.earliest(self._invited[0].arrived)) <= now:
            self._end_until(at)
            self._begin(self._invited.popleft(), at)
        self._end_until(now)
        known, count = self.jobs.known, len(self.jobs)
        while self._arrived < count and known[self._arrived] <= now:
            self._arrive(self._arrived, now)
            self._arrived += 1
        while self._waiting and self._waiting[0][0] <= now:
            due, job = heappop(self._waiting)
            self._come_due(due, job)

    def _arrive(self, job: int, now: float) -> None:
        due, known = self.jobs.due[job], self.jobs.known[job]
        if due > now:
            heappush(self._waiting, (due, job))
        elif self.waking.kicks and due <= known and self._has_room(job):
            self.bounds.take(job)
            self._offer([job], known)
            return
        else:
            self.lanes.add(self.jobs.queue[job], self.jobs.priority[job], due, job)
        if self.waking.hears:
            self.waking.hear(max(due, known), known)

    def _has_room(self, job: int) -> bool:
        return self.busy < self.policy.capacity and self.bounds.fit(self.bounds.of(job))

    def _end_until(self, now: float) -> None:
        """Give back the room of the claims that are over by then."""
        ends = self._ends
        while ends and ends[0][0] <= now:
            at, job, due = heappop(ends)
            self._free(job)
            if due != ENDED:
                heappush(self._waiting, (due, job))
                if self.waking.hears and at not in self.attempts.died.get(
                    job, ()
                ):  # who dies leaves no wake-up
                    self.waking.hear(max(due, at), at)

    def _free(self, job: int) -> None:
        self.waking.vain = 0
        self.busy -= 1
        self.busy_of[self.jobs.queue[job]] -= 1
        if self.policy.limits:
            self.bounds.give(job)

    def _come_due(self, due: float, job: int) -> None:
        if self.attempts.spent(job):
            self.tally.bury(job)
        else:
            self.lanes.add(self.jobs.queue[job], self.jobs.priority[job], due, job)

    def _look(self, now: float) -> None:
        """Make a tick: let offers lapse, count the room, choose, and invite workers."""
        at = self.waking.wake(now)
        budgets = self.budgets.after(self._lapse(now), now)
        room = self.policy.capacity - self.busy
        allowed = {queue: max(0, budget - self.busy_of[queue]) for queue, budget in budgets.items()}
        chosen = self.lanes.choose(room, allowed) if room > 0 and self.lanes.due else []
        self._invite(chosen, at)
        self.waking.slept(now, len(chosen), self.lanes.due, self._waiting[0][0] if self._waiting else NEVER)

    def _lapse(self, now: float) -> dict[int, int]:
        """Have what nobody claimed in time due again; return how many of each queue were that for the first time."""
        vain: dict[int, int] = {}
        while self._offers and self._offers[0].offered + self.policy.offer_ttl <= now:
            invitation = self._offers.popleft()
            for job in invitation.jobs:
                if self._open.get(job) != invitation.offered or job in self._lapsed:
                    continue
                self._free(job)
                self._lapsed.add(job)
                queue = self.jobs.queue[job]
                visible = invitation.offered + self.policy.offer_ttl
                self.lanes.add(queue, self.jobs.priority[job], visible, job)
                if job not in self._again:
                    vain[queue] = vain.get(queue, 0) + 1
        return vain

    def _invite(self, chosen: list[int], at: float) -> None:
        """Offer jobs, `chunk` of a queue to an invocation, those first that were enqueued first: by their ids."""
        of_queue: dict[int, list[int]] = {}
        for job in sorted(chosen):
            of_queue.setdefault(self.jobs.queue[job], []).append(job)
        chunk = self.policy.chunk
        for jobs in of_queue.values():
            for start in range(0, len(jobs), chunk):
                self._offer(jobs[start : start + chunk], at)

    def _offer(self, jobs: list[int], at: float) -> None:
        for job in jobs:
            if job in self._lapsed:
                self._lapsed.discard(job)
                self._again.add(job)
            self._open[job] = at
            self.busy_of[self.jobs.queue[job]] += 1
        self.busy += len(jobs)
        invitation = Invitation(at, at + self.policy.latency, jobs)
        self._invited.append(invitation)
        self._offers.append(invitation)

    def _begin(self, invitation: Invitation, at: float) -> None:
        """Begin an invocation: claim what is still on offer, and work it off."""
        cold = self.fleet.start(at)
        began = at + cold
        claimed = [job for job in invitation.jobs if self._claim(job, invitation, began + self.policy.claim)]
        ended = self._work_off(claimed, began) if claimed else began + self.policy.claim
        self.fleet.keep(ended)
        self.tally.invocation(invitation.jobs, at, ended, cold > 0)

    def _claim(self, job: int, invitation: Invitation, at: float) -> bool:
        if self._open.get(job) != invitation.offered:
            return False  # it was offered anew
        if self.policy.limits and at >= invitation.offered + self.policy.offer_ttl:
            return False  # its place may be another job's by now
        if job in self._lapsed:
            self._lapsed.discard(job)
            self.lanes.leave(invitation.offered + self.policy.offer_ttl, job)
            self.busy += 1
            self.busy_of[self.jobs.queue[job]] += 1
        del self._open[job]
        self._again.discard(job)
        return True

    def _work_off(self, jobs: list[int], began: float) -> float:
        """Handle claimed jobs one after the other; return when the invocation ends."""
        end = began + self.policy.worker_timeout - FINISH_TIME
        now, longest = began + self.policy.claim, 0.0
        for place, job in enumerate(jobs):
            if not self.attempts.fits(job, place, now, end, longest):
                heappush(self._ends, (now, job, now))  # released, unbegun
                now += self.policy.finish
                continue
            self.tally.start(job, now)
            ran = self.attempts.make(job, now, end)
            if ran.died:
                self._die(jobs[place:], ran.until)
                return ran.ended
            heappush(self._ends, (ran.ended, job, ENDED if ran.due is None else ran.due))
            if ran.due is None:
                self.tally.end(job, ran.outcome)
            longest = max(longest, ran.ended - now)
            now = ran.ended + self.policy.finish
        return now

    def _die(self, jobs: list[int], until: float) -> None:
        """Leave what a dead worker had claimed to lapse: the job it was at, and those behind it."""
        for place, job in enumerate(jobs):
            self.attempts.lapse(job, until, begun=place == 0)
            self._again.add(job)
            heappush(self._ends, (until, job, until))
