"""Tally: what is counted while a policy is played, and what of it belongs to the window."""

import math
from collections import Counter

import numpy as np

from minutehand_pipeline.prices import gb_seconds
from minutehand_pipeline.simulate.arrivals import CANCELLED, DONE, Arrivals
from minutehand_pipeline.simulate.policy import Policy


class Tally:
    """Counts, by job and by queue. Of an invocation the window has the share that its counted jobs are."""

    def __init__(self, policy: Policy, arrivals: Arrivals) -> None:
        """Begin with nothing."""
        self.policy, self.jobs = policy, arrivals
        self.began = [math.nan] * len(arrivals)  # when the first attempt did
        self.ended = bytearray(len(arrivals))  # 0, or one of ENDED
        queues = len(arrivals.queues)
        self.attempts, self.invocations, self.cold = [0] * queues, [0.0] * queues, [0.0] * queues
        self.gb_seconds = [0.0] * queues
        self.looks: list[tuple[float, float]] = []  # those that were played: who finds nothing due is not
        self.stayed: list[
            tuple[float, float]
        ] = []  # until when a dispatcher stayed up for more, and how long
        self.busy: list[tuple[float, float]] = []  # when a worker was at the database
        self._counted = arrivals.counted.tolist()
        self._all = all(self._counted)
        self._awake = -math.inf

    def start(self, job: int, at: float) -> None:
        """Count an attempt."""
        if self._counted[job]:
            self.attempts[self.jobs.queue[job]] += 1
        if math.isnan(self.began[job]):
            self.began[job] = at

    def end(self, job: int, outcome: int) -> None:
        """Note how a job ended."""
        self.ended[job] = ENDED[outcome]

    def bury(self, job: int) -> None:
        """Note the death of a job whose last worker never came back."""
        self.ended[job] = DEAD_BY

    def invocation(self, jobs: list[int], at: float, ended: float, cold: bool) -> None:
        """Count an invocation, billed from its cold start on."""
        share = 1.0 if self._all else sum(self._counted[job] for job in jobs) / len(jobs)
        queue = self.jobs.queue[jobs[0]]
        memory = self.policy.memory_mb or max(self.jobs.memory_mb[job] for job in jobs)
        self.invocations[queue] += share
        self.cold[queue] += share * cold
        self.gb_seconds[queue] += share * gb_seconds(milliseconds(ended - at), memory)
        self.busy.append((at, ended))
        self.touch(ended)

    def touch(self, at: float) -> None:
        """Note that somebody was at the database."""
        self._awake = max(self._awake, at)

    def look(self, now: float, since: float | None) -> float:
        """Count a look, of a dispatcher that has stayed up `since` then or was woken; return when it is served."""
        asleep = now > self._awake + self.policy.idle and self.policy.resume > 0
        at = now + (self.policy.resume if asleep else 0.0)
        self.touch(at + self.policy.tick_seconds)
        self.looks.append((now, at + self.policy.tick_seconds))
        if since is not None:
            self.stayed.append((now, now - since))
        return at

    def states(self) -> "list[Counter[str]]":
        """Return how many counted jobs of each queue ended how; those that did not are `unfinished`."""
        counts: list[Counter[str]] = [Counter() for _ in self.jobs.queues]
        for queue, ended, counted in zip(self.jobs.queue, self.ended, self._counted, strict=True):
            if counted:
                counts[queue][STATES[ended]] += 1
        return counts

    def lateness(self) -> "tuple[np.ndarray, np.ndarray]":
        """Return the queue and the lateness, from due to the first attempt, of the counted jobs that were begun."""
        began = np.asarray(self.began)
        kept = self.jobs.counted & ~np.isnan(began)
        late = began[kept] - np.maximum(self.jobs.due, self.jobs.known)[kept]
        return np.asarray(self.jobs.queue, dtype=np.int64)[kept], np.maximum(late, 0.0)


def milliseconds(seconds: float) -> float:
    """Return a time to a hundredth of a millisecond, as fine as the difference of two moments since 1970 is.

    So the fraction that is left of a whole millisecond is not billed as one more.
    """
    return round(seconds * 1000, 2)


STATES = ("unfinished", "done", "dead", "cancelled")
DEAD_BY = STATES.index("dead")
ENDED = {DONE: STATES.index("done"), CANCELLED: STATES.index("cancelled"), 2: DEAD_BY}
