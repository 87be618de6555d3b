"""Attempts: what an attempt comes to, by what was recorded of the job, and beyond that by what is assumed."""

import json
import math
from dataclasses import dataclass
from functools import cache

from minutehand.model.retry import Retry
from minutehand_pipeline.simulate.arrivals import BACK, CANCELLED, DONE, FAILED, FINAL, LAPSED, Arrivals
from minutehand_pipeline.simulate.policy import Policy

DEAD = FINAL
FINISH_TIME = 0.5  # seconds that a worker keeps of its time; minutehand.work.FINISH_TIME


@dataclass(slots=True)
class Ran:
    """An attempt: its end and outcome, when its job is due again if ever, how long a dead worker's lease holds."""

    ended: float
    outcome: int
    due: float | None = None
    died: bool = False
    until: float = 0.0


class Attempts:
    """How far each job has come in what was recorded of it."""

    def __init__(self, policy: Policy, arrivals: Arrivals, seed: int) -> None:
        """Begin with no attempt made."""
        self.policy, self.jobs, self.seed = policy, arrivals, seed
        self.made = [0] * len(arrivals)  # that count against max_attempts
        self.died: dict[int, list[float]] = {}  # when leases of dead workers end, by job
        self._at = list(arrivals.first[:-1])  # the recorded attempt that is next

    def most(self, job: int) -> int:
        """Return a job's max_attempts."""
        return self.policy.max_attempts or self.jobs.max_attempts[job]

    def spent(self, job: int) -> bool:
        """Whether no attempt is left."""
        return self.made[job] >= self.most(job)

    def fits(self, job: int, place: int, now: float, end: float, longest: float) -> bool:
        """Whether a worker begins a job of its chunk, or gives it back: work.py's rule."""
        if now > end - FINISH_TIME:
            return False
        own = self._timeout(job)
        return place == 0 or end - now >= (longest if own == math.inf else own)

    def make(self, job: int, now: float, end: float) -> Ran:
        """Make the next attempt at a job, from a moment on, in an invocation whose time is over at `end`."""
        self.made[job] += 1
        run, outcome, gap = self._recorded(job)
        own = min(self._timeout(job), self.policy.worker_timeout - FINISH_TIME, end - now)
        if outcome == LAPSED:
            return Ran(now + own, LAPSED, died=True, until=now + own + self.policy.grace + FINISH_TIME)
        if run > own:
            return self._failed(job, now + own)  # and would again: the record stays where it is
        self._at[job] = min(self._at[job] + 1, self.jobs.first[job + 1])
        if outcome == BACK:
            self.made[job] -= 1
            return Ran(now + run, BACK, now + run + gap)
        return self._failed(job, now + run) if outcome == FAILED else Ran(now + run, outcome)

    def lapse(self, job: int, until: float, *, begun: bool) -> None:
        """Count the attempt of a worker that died: the one it was at, or one that it had only claimed."""
        if begun:
            self._at[job] = min(self._at[job] + 1, self.jobs.first[job + 1])
        else:
            self.made[job] += 1
        self.died.setdefault(job, []).append(until)

    def _recorded(self, job: int) -> tuple[float, int, float]:
        """Return the seconds, the outcome and the wait of the attempt that is next.

        Beyond the record it takes as long as the last one did, and fails unless the policy says that it may recover.
        """
        at = self._at[job]
        if at < self.jobs.first[job + 1]:
            return self.jobs.runs[at], self.jobs.outcomes[at], self.jobs.gaps[at]
        run = self.jobs.runs[at - 1] if at > self.jobs.first[job] else 0.0
        recovers = self.policy.recovers and self._chance(job, 1) < self.policy.recovers
        return run, DONE if recovers else FAILED, 0.0

    def _failed(self, job: int, at: float) -> Ran:
        if self.spent(job):
            return Ran(at, DEAD)
        retry = self.policy.retry or _retry(self.jobs.retry[job])
        chance = self._chance(job, 0) if retry.jitter else 0.0
        return Ran(at, FAILED, at + retry.wait(self.made[job], chance).total_seconds())

    def _timeout(self, job: int) -> float:
        return self.policy.timeout or self.jobs.timeout[job]

    def _chance(self, job: int, what: int) -> float:
        """Return a number in [0, 1) by seed, job, attempt and purpose: splitmix64."""
        mixed = (
            self.jobs.die[job]
            + 0x9E3779B97F4A7C15 * (self.made[job] * 2 + what + 1)
            + self.seed * 0xD1342543DE82EF95
        )
        mixed &= 0xFFFFFFFFFFFFFFFF
        mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 & 0xFFFFFFFFFFFFFFFF
        mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & 0xFFFFFFFFFFFFFFFF
        return ((mixed ^ mixed >> 31) >> 11) / 2**53


@cache
def _retry(kept: str | None) -> Retry:
    return Retry.from_json(json.loads(kept) if kept else None)


ENDINGS = {DONE: "done", DEAD: "dead", CANCELLED: "cancelled"}
