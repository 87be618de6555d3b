"""The result of an attempt: as recorded, and by assumption for attempts beyond the record."""

import json
import math
from dataclasses import dataclass
from functools import cache

from minutehand.model.retry import Retry
from minutehand_pipeline.simulate.arrivals import BACK, DONE, FAILED, FINAL, LAPSED, Arrivals
from minutehand_pipeline.simulate.chance import number
from minutehand_pipeline.simulate.policy import Policy

DEAD = FINAL
# Seconds that a worker reserves to finish; the same as minutehand.attempts.in_turn.FINISH_TIME.
FINISH_TIME = 0.5


@dataclass(slots=True)
class Attempt:
    """An attempt: its end, its outcome and when the job is due again, if ever.

    If the worker died, `lease_ends` is when its lease ends.
    """

    ended: float
    outcome: int
    due: float | None = None
    died: bool = False
    lease_ends: float = 0.0


class Attempts:
    """How many attempts each job has made, and which recorded attempt is next."""

    def __init__(self, policy: Policy, arrivals: Arrivals, seed: int) -> None:
        """Start with no attempts."""
        self.policy, self.jobs, self.seed = policy, arrivals, seed
        # Attempts that count against max_attempts.
        self.made = [0] * len(arrivals)
        self._next = list(arrivals.first[:-1])

    def max_attempts(self, job: int) -> int:
        """Return a job's max_attempts."""
        return self.policy.max_attempts or self.jobs.max_attempts[job]

    def exhausted(self, job: int) -> bool:
        """Whether a job has no attempt left."""
        return self.made[job] >= self.max_attempts(job)

    def fits(self, job: int, place: int, now: float, end: float, longest: float) -> bool:
        """Whether a worker starts a job of its chunk rather than release it. The rule is that of attempts/chunk.py."""
        if now > end - FINISH_TIME:
            return False
        timeout = self._timeout(job)
        return place == 0 or end - now >= (longest if timeout == math.inf else timeout)

    def run(self, job: int, now: float, end: float) -> Attempt:
        """Run the next attempt at a job, in an invocation that times out at `end`."""
        self.made[job] += 1
        run, outcome, gap = self._recorded(job)
        timeout = min(self._timeout(job), self.policy.worker_timeout - FINISH_TIME, end - now)
        if outcome == LAPSED:
            ended = now + timeout
            return Attempt(ended, LAPSED, died=True, lease_ends=ended + self.policy.grace + FINISH_TIME)
        if run > timeout:
            # The next attempt would time out too, so the recorded attempt is not used up.
            return self._failed(job, now + timeout)
        self._next[job] = min(self._next[job] + 1, self.jobs.first[job + 1])
        if outcome == BACK:
            self.made[job] -= 1
            return Attempt(now + run, BACK, now + run + gap)
        return self._failed(job, now + run) if outcome == FAILED else Attempt(now + run, outcome)

    def lapse(self, job: int, *, started: bool) -> None:
        """Count an attempt of a worker that died, either started or only claimed."""
        if started:
            self._next[job] = min(self._next[job] + 1, self.jobs.first[job + 1])
        else:
            self.made[job] += 1

    def _recorded(self, job: int) -> tuple[float, int, float]:
        """Return the seconds, the outcome and the gap of the next attempt.

        An attempt beyond the record takes as long as the last one. It fails, unless the policy lets it recover.
        """
        at = self._next[job]
        if at < self.jobs.first[job + 1]:
            return self.jobs.runs[at], self.jobs.outcomes[at], self.jobs.gaps[at]
        run = self.jobs.runs[at - 1] if at > self.jobs.first[job] else 0.0
        recovers = self.policy.recovers and self._random(job, 1) < self.policy.recovers
        return run, DONE if recovers else FAILED, 0.0

    def _failed(self, job: int, at: float) -> Attempt:
        if self.exhausted(job):
            return Attempt(at, DEAD)
        retry = self.policy.retry or _retry(self.jobs.retry[job])
        jitter = self._random(job, 0) if retry.jitter else 0.0
        return Attempt(at, FAILED, at + retry.wait(self.made[job], jitter).total_seconds())

    def _timeout(self, job: int) -> float:
        return self.policy.timeout or self.jobs.timeout[job]

    def _random(self, job: int, purpose: int) -> float:
        return number(self.jobs.salt[job], self.seed, self.made[job] * 2 + purpose + 1)


@cache
def _retry(stored: str | None) -> Retry:
    return Retry.from_json(json.loads(stored) if stored else None)
