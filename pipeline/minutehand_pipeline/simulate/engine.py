"""The engine: simulate one policy over one window of arrivals, event by event. It is deterministic for a seed.

It follows tick.py, waking/, the statements of the flow, and invocations/running.py. `docs/pipeline/simulate.md` lists
what is left out. This module does not use Spark.
"""

from collections import Counter

from minutehand_pipeline.simulate.agenda import ARRIVALS, DUE, Agenda
from minutehand_pipeline.simulate.arrivals import Arrivals
from minutehand_pipeline.simulate.attempts import Attempts
from minutehand_pipeline.simulate.dispatcher import Dispatcher
from minutehand_pipeline.simulate.policy import Policy
from minutehand_pipeline.simulate.tally import Tally
from minutehand_pipeline.simulate.waking import WAKING
from minutehand_pipeline.simulate.workers import Workers

# Seconds after the last arrival; jobs that take longer remain unfinished.
HORIZON = 30 * 86_400.0


class Simulation:
    """The arrivals, and the parts of the system that react to them."""

    def __init__(self, policy: Policy, arrivals: Arrivals, seed: int = 0) -> None:
        """Start before the first arrival."""
        self.jobs, self.tally = arrivals, Tally(policy, arrivals)
        self.agenda = Agenda()
        self.attempts = Attempts(policy, arrivals, seed)
        self.workers = Workers(policy, self.agenda, self.attempts, self.tally, self._end)
        self.dispatcher = Dispatcher(policy, arrivals, self.workers.invite)
        self.workers.dispatcher = self.dispatcher
        self.waking = WAKING[policy.mode](policy, self.agenda, self.dispatcher, self.tally, seed)
        self._arrived = 0
        # The unfinished jobs of each batch with a callback, and the callbacks, which do not arrive by themselves.
        self._open = Counter(batch for batch in arrivals.batch.values() if batch in arrivals.callbacks)
        self._callbacks = {job for jobs in arrivals.callbacks.values() for job in jobs}

    def run(self) -> Tally:
        """Simulate until nothing is left to happen, and return the counts."""
        if len(self.jobs):
            self.agenda.at(self.jobs.known[0], ARRIVALS, self._arrive)
            self.agenda.run(self.jobs.known[-1] + HORIZON)
        return self.tally

    def _arrive(self, now: float) -> None:
        """Enqueue the jobs of a moment, which are those of a transaction, and wait for the next ones."""
        known, count, first = self.jobs.known, len(self.jobs), self._arrived
        while self._arrived < count and known[self._arrived] <= now:
            self._arrived += 1
        jobs = range(first, self._arrived)
        self._enqueue(now, [job for job in jobs if job not in self._callbacks] if self._callbacks else jobs)
        if self._arrived < count:
            self.agenda.at(known[self._arrived], ARRIVALS, self._arrive)

    def _enqueue(self, now: float, jobs: "list[int] | range") -> None:
        self.tally.access(now)
        due: list[int] = []
        for job in jobs:
            if self.jobs.due[job] > now:
                self.agenda.at(self.jobs.due[job], DUE, self._come_due, job, now)
            else:
                self.dispatcher.add(job, self.jobs.due[job])
                due.append(job)
        self.waking.enqueued(now, due)

    def _come_due(self, now: float, job: int, known: float) -> None:
        if self.attempts.exhausted(job):
            self._finish(now, job, None)
        else:
            self.dispatcher.add(job, now)
            self.waking.due(now, known)

    def _end(self, now: float, job: int, due: float | None, outcome: int | None) -> None:
        """Free the slot of a job, which is due again or finished."""
        self.dispatcher.release(job)
        if due is None:
            self._finish(now, job, outcome)
        else:
            self.agenda.at(due, DUE, self._come_due, job, now)
        if self.dispatcher.lanes.due:
            self.waking.need(now)

    def _finish(self, now: float, job: int, outcome: int | None) -> None:
        if outcome is None:
            self.tally.reap(job)
        else:
            self.tally.end(job, outcome)
        batch = self.jobs.batch.get(job, "") if self._open else ""
        if batch in self._open:
            self._open[batch] -= 1
            if not self._open[batch]:
                self._call_back(now, self.jobs.callbacks[batch])

    def _call_back(self, now: float, jobs: list[int]) -> None:
        """Enqueue the callbacks of a batch that has ended."""
        for job in jobs:
            self.tally.move(job, now)
            self.dispatcher.add(job, now)
        self.waking.enqueued(now, jobs)
