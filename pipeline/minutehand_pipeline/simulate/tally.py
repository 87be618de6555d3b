"""Counts of a simulation, and which of them belong to the window."""

import math
from collections import Counter

import numpy as np

from minutehand_pipeline.prices import gb_seconds
from minutehand_pipeline.simulate.arrivals import CANCELLED, DONE, FINAL, Arrivals
from minutehand_pipeline.simulate.policy import Policy

STATES = ("unfinished", "done", "dead", "cancelled")
DEAD = STATES.index("dead")
STATE_OF = {DONE: STATES.index("done"), CANCELLED: STATES.index("cancelled"), FINAL: DEAD}


class TooLateError(Exception):
    """More jobs are late than `most_late` allows."""


class Tally:
    """Counts by job and by queue. An invocation counts by the share of its jobs that belong to the window."""

    def __init__(self, policy: Policy, arrivals: Arrivals) -> None:
        """Start at zero."""
        self.policy, self.jobs = policy, arrivals
        # When each job's first attempt started.
        self.began = [math.nan] * len(arrivals)
        # The index of each job's state in STATES.
        self.ended = bytearray(len(arrivals))
        queues = len(arrivals.queues)
        self.attempts, self.invocations, self.cold = [0] * queues, [0.0] * queues, [0.0] * queues
        self.gb_seconds = [0.0] * queues
        # Start and end of the simulated ticks; ticks with nothing to do are not simulated.
        self.ticks: list[tuple[float, float]] = []
        # Start and end of each invocation.
        self.busy: list[tuple[float, float]] = []
        # Seconds for which dispatchers waited, in mode prompt.
        self.waited = 0.0
        # When jobs were due that arrived at another time than recorded.
        self._moved: dict[int, float] = {}
        # Seconds, and the maximum number of jobs that may start later than these after they are due.
        self.most_late: tuple[float, float] | None = None
        self._late = 0
        self._counted = arrivals.counted.tolist()
        self._all = all(self._counted)
        self._last_access = -math.inf

    def start(self, job: int, at: float) -> None:
        """Count an attempt."""
        if self._counted[job]:
            self.attempts[self.jobs.queue[job]] += 1
        if math.isnan(self.began[job]):
            self.began[job] = at
            if self.most_late is not None:
                self._check(at - self._moved.get(job, self.jobs.due[job]))

    def end(self, job: int, outcome: int) -> None:
        """Record how a job ended."""
        self.ended[job] = STATE_OF[outcome]

    def reap(self, job: int) -> None:
        """Record a job as dead whose last worker died."""
        self.ended[job] = DEAD

    def move(self, job: int, due: float) -> None:
        """Record when a callback was enqueued."""
        self._moved[job] = due

    def invocation(self, jobs: list[int], at: float, ended: float, cold: bool) -> None:
        """Count an invocation. Its cold start is billed too."""
        share = 1.0 if self._all else sum(self._counted[job] for job in jobs) / len(jobs)
        queue = self.jobs.queue[jobs[0]]
        memory = self.policy.memory_mb or max(self.jobs.memory_mb[job] for job in jobs)
        self.invocations[queue] += share
        self.cold[queue] += share * cold
        self.gb_seconds[queue] += share * gb_seconds(milliseconds(ended - at), memory)
        self.busy.append((at, ended))
        self.access(ended)

    def tick(self, now: float) -> float:
        """Count a tick; return when it reaches the database, which may have to resume first."""
        policy = self.policy
        may_pause = policy.resume > 0 and (policy.mode == "sleep" or policy.interval > policy.idle)
        paused = may_pause and now > self._last_access + policy.idle
        at = now + (self.policy.resume if paused else 0.0)
        self.access(at + self.policy.tick_seconds)
        self.ticks.append((now, at + self.policy.tick_seconds))
        return at

    def states(self) -> "list[Counter[str]]":
        """Return the number of counted jobs of each queue, by state."""
        counts: list[Counter[str]] = [Counter() for _ in self.jobs.queues]
        for queue, ended, counted in zip(self.jobs.queue, self.ended, self._counted, strict=True):
            if counted:
                counts[queue][STATES[ended]] += 1
        return counts

    def lateness(self) -> "tuple[np.ndarray, np.ndarray]":
        """Return queue and lateness, from due to the first attempt, of the counted jobs that were started."""
        began = np.asarray(self.began)
        started = self.jobs.counted & ~np.isnan(began)
        due = np.maximum(self.jobs.due, self.jobs.known)
        due[list(self._moved)] = list(self._moved.values())
        late = began[started] - due[started]
        return np.asarray(self.jobs.queue, dtype=np.int64)[started], np.maximum(late, 0.0)

    def _check(self, late: float) -> None:
        assert self.most_late is not None
        seconds, most = self.most_late
        self._late += late > seconds
        if self._late > most:
            raise TooLateError

    def access(self, at: float) -> None:
        """Record an access to the database."""
        self._last_access = max(self._last_access, at)


def milliseconds(seconds: float) -> float:
    """Convert a time, rounded to 0.01 ms, so that a rounding error is not billed as another millisecond.

    The difference of two times since 1970 is no more precise than that.
    """
    return round(seconds * 1000, 2)
