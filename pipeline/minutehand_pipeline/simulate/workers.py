"""Workers: the invocations that claim offered jobs, run them, and go on with further due jobs of their queue.

The rules are those of invocations/running.py and attempts/in_turn.py. A worker that has time left takes as many jobs as
its own have freed slots, up to `jobs_per_invocation`.
"""

from collections import deque
from collections.abc import Callable

from minutehand_pipeline.simulate.agenda import ENDS, STARTS, STEPS, Agenda
from minutehand_pipeline.simulate.attempts import FINISH_TIME, Attempt, Attempts
from minutehand_pipeline.simulate.dispatcher import Dispatcher, Invocation
from minutehand_pipeline.simulate.fleet import Fleet
from minutehand_pipeline.simulate.policy import Policy
from minutehand_pipeline.simulate.tally import Tally

# Called when a job's slot is free: the time, the job, when it is due again (None: never), and its outcome if it ended.
Ended = Callable[[float, int, float | None, int | None], None]


class Workers:
    """The worker function."""

    def __init__(
        self, policy: Policy, agenda: Agenda, attempts: Attempts, tally: Tally, ended: Ended
    ) -> None:
        """Start without invocations. `dispatcher` is to be set."""
        self.policy, self._agenda, self._attempts, self._tally = policy, agenda, attempts, tally
        self._ended = ended
        self._fleet = Fleet(policy.concurrency, policy.cold, policy.warm)
        self._waiting: deque[Invocation] = deque()
        self.dispatcher: Dispatcher

    def invite(self, invocation: Invocation) -> None:
        """Accept an event."""
        self._agenda.at(invocation.offered + self.policy.latency, STARTS, self._arrive, invocation)

    def _arrive(self, now: float, invocation: Invocation) -> None:
        if self._fleet.full:
            self._waiting.append(invocation)
        else:
            self._start(now, invocation)

    def _start(self, now: float, invocation: Invocation) -> None:
        """Claim the jobs that are still offered, and run them."""
        cold = self._fleet.start(now)
        invocation.started, invocation.cold = now, cold > 0
        began = now + cold + self.policy.claim
        claimed = self.dispatcher.claim(invocation, began)
        invocation.until = now + cold + self.policy.worker_timeout - FINISH_TIME
        if claimed:
            self._run(invocation, claimed, began)
        else:
            self._agenda.at(began, STEPS, self._end, invocation)

    def _run(self, invocation: Invocation, jobs: list[int], now: float) -> None:
        """Run claimed jobs one after the other."""
        invocation.ran += jobs
        freed: list[float] = []
        for place, job in enumerate(jobs):
            if not self._attempts.fits(job, place, now, invocation.until, invocation.longest):
                # Released without an attempt.
                self._agenda.at(now, ENDS, self._ended, job, now, None)
                now += self.policy.finish
                freed.clear()
                invocation.taking = False
                continue
            self._tally.start(job, now)
            attempt = self._attempts.run(job, now, invocation.until)
            if attempt.died:
                self._lose(jobs[place:], attempt.lease_ends)
                self._agenda.at(attempt.ended, STEPS, self._end, invocation)
                return
            self._finish(job, attempt)
            freed.append(attempt.ended)
            invocation.longest = max(invocation.longest, attempt.ended - now)
            now = attempt.ended + self.policy.finish
        goes_on = invocation.taking and len(invocation.ran) < self.policy.jobs_per_invocation
        self._agenda.at(now, STEPS, self._go_on if goes_on else self._end, invocation, *([freed] * goes_on))

    def _finish(self, job: int, attempt: Attempt) -> None:
        final = attempt.outcome if attempt.due is None else None
        self._agenda.at(attempt.ended, ENDS, self._ended, job, attempt.due, final)

    def _go_on(self, now: float, invocation: Invocation, freed: list[float]) -> None:
        """Take further jobs in the slots that were freed; as many as half of the time left is enough for."""
        left = invocation.until - now
        most = max(1, int(left / 2 / max(invocation.longest, 0.001)))
        most = min(most, self.policy.jobs_per_invocation - len(invocation.ran))

        def fits(job: int) -> bool:
            return self._attempts.fits(job, 1, now, invocation.until, invocation.longest)

        jobs = self.dispatcher.take(invocation.queue, freed, most, now, fits) if left > FINISH_TIME else []
        if jobs:
            self._run(invocation, jobs, now + self.policy.claim)
        else:
            self._end(now, invocation)

    def _end(self, now: float, invocation: Invocation) -> None:
        """End an invocation, and start the next event that waits for its environment."""
        self._fleet.end(now)
        self._tally.invocation(invocation.ran or invocation.jobs, invocation.started, now, invocation.cold)
        if self._waiting and not self._fleet.full:
            self._start(now, self._waiting.popleft())

    def _lose(self, jobs: list[int], lease_ends: float) -> None:
        """Let the leases of a dead worker lapse: of the job that it ran, and of those that it had only claimed."""
        for place, job in enumerate(jobs):
            self._attempts.lapse(job, started=place == 0)
            self.dispatcher.forget_lapse(job)
            self._agenda.at(lease_ends, ENDS, self._ended, job, lease_ends, None)
