"""A trial: the simulation of one candidate over the sample."""

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from minutehand.costs.prices import read_prices
from minutehand_pipeline.prices import MONTH_HOURS
from minutehand_pipeline.report.advice.candidate import Candidate, Goal
from minutehand_pipeline.report.advice.sample import Sample
from minutehand_pipeline.report.workload import Workload
from minutehand_pipeline.simulate.engine import Simulation
from minutehand_pipeline.simulate.policy import Policy
from minutehand_pipeline.simulate.tally import Tally, TooLateError

MINUTE = 60.0
# The second of the minute at which the dispatcher ticks: the worst for jobs that are due at full minutes.
PHASE = 59.999
# Above this share of the capacity, small changes of the load make the waits grow without bounds.
MOST_USED = 0.95
TICKS = MONTH_HOURS * 60


@dataclass(frozen=True)
class Trials:
    """Simulates candidates for a goal; the costs are those of the workload in a month."""

    workload: Workload
    sample: Sample
    more: Sample
    goal: Goal
    # The last simulation that `enough` completed, which is that of the capacity that a search finds.
    _completed: dict[Policy, Tally] = field(default_factory=dict)

    def run(self, policy: Policy, *, with_more: bool = False) -> Candidate:
        """Simulate a policy over the sample, and over the sample with more jobs."""
        tally = self._completed.get(policy) or Simulation(policy, self.sample.arrivals).run()
        within, late, drain = self._within(tally, self.sample)
        used = self._load() / policy.capacity
        meets = within >= self.goal.target and used <= MOST_USED and drain <= max(self.goal.objective, MINUTE)
        more = None
        if with_more and meets:
            more, _, _ = self._within(Simulation(policy, self.more.arrivals).run(), self.more)
            meets = more >= self.goal.target
        jobs, overhead, ticks = self._costs(policy, tally)
        return Candidate(
            mode=policy.mode,
            capacity=policy.capacity,
            chunk=policy.chunk,
            jobs_per_invocation=policy.jobs_per_invocation,
            worker_timeout=policy.worker_timeout,
            within=within,
            late=late,
            with_more=more,
            utilization=used,
            drain=drain,
            meets=meets,
            invocations=self._invocations(tally),
            ticks=self._ticks(policy.mode),
            jobs_cost=jobs,
            overhead_cost=overhead,
            ticks_cost=ticks,
            cost=jobs + overhead + ticks,
        )

    def policy(self, mode: str, capacity: int, chunk: int, jobs_per_invocation: int) -> Policy:
        """Return a policy with the figures of functions that `minutehand cost` uses."""
        figures = read_prices()
        timeout = MINUTE * np.ceil(10 * self.workload.run_p95 / MINUTE)
        return Policy(
            mode=mode,
            capacity=capacity,
            chunk=chunk,
            jobs_per_invocation=jobs_per_invocation,
            worker_timeout=float(min(900.0, max(MINUTE, timeout))),
            phase=PHASE,
            claim=max(0.0, figures(mode, "overhead_ms") / 1000 - Policy.finish),
            cold=figures("functions", "init_ms") / 1000,
            tick_seconds=figures(mode, "tick_ms") / 1000,
            dispatcher_mb=int(figures("functions", "tick_memory_mb")),
            architecture=self.goal.architecture,
        )

    def enough(self, policy: Policy, seconds: float, share: float) -> bool:
        """Whether a share of the sample's jobs start within some seconds. Stops when too many are late."""
        jobs = self.sample.arrivals
        simulation = Simulation(policy, jobs)
        simulation.tally.most_late = (seconds, len(jobs) * (1 - share) + 1e-6)
        try:
            tally = simulation.run()
        except TooLateError:
            return False
        self._completed.clear()
        self._completed[policy] = tally
        _, late = tally.lateness()
        return float((late <= seconds).sum()) >= len(jobs) * share - 1e-6

    def _within(self, tally: Tally, sample: Sample) -> tuple[float, float, float]:
        """Return the share that started in time, the seconds in which the target share did, and those until all had.

        The last are counted from the time when the last job was due.
        """
        _, late = tally.lateness()
        counted = int(tally.jobs.counted.sum())
        began = np.asarray(tally.began)[tally.jobs.counted]
        last = float(np.nanmax(began)) if len(late) else sample.until
        missing = np.inf if len(late) < counted else 0.0
        late = np.sort(np.concatenate([late, np.full(counted - len(late), np.inf)]))
        within = float((late <= self.goal.objective).sum()) / counted
        wanted = late[min(counted, math.ceil(counted * self.goal.target)) - 1]
        return within, float(wanted), max(0.0, last - sample.until) + missing

    def _load(self) -> float:
        """Return how many slots the jobs of the sample keep in use, by Little's law."""
        return sum(self.sample.arrivals.runs) / (self.sample.until - self.sample.since)

    @cached_property
    def _handlers(self) -> float:
        """The gigabyte-seconds of the sample's attempts, without the overhead of invocations."""
        jobs = self.sample.arrivals
        return sum(
            sum(jobs.runs[jobs.first[job] : jobs.first[job + 1]]) * memory / 1024
            for job, memory in enumerate(jobs.memory_mb)
        )

    @property
    def _month(self) -> float:
        """How many times a month has the jobs of the window."""
        return MONTH_HOURS * 60 / len(self.workload.jobs)

    @property
    def _scale(self) -> float:
        """How many times a month has the jobs of the sample."""
        return float(self.workload.jobs.sum()) * self._month / len(self.sample.arrivals)

    def _invocations(self, tally: Tally) -> float:
        return float(sum(tally.invocations)) * self._scale

    def _ticks(self, mode: str) -> float:
        if mode != "sleep":
            return TICKS
        sweeps = MONTH_HOURS / read_prices()("functions", "sweep_hours")
        return float((self.workload.jobs > 0).sum()) * self._month + sweeps

    def _costs(self, policy: Policy, tally: Tally) -> tuple[float, float, float]:
        """Return the cost of a month: of the handlers' run time, of their invocations, and of the dispatcher."""
        prices, architecture = self.goal.prices, self.goal.architecture
        of_second = prices.gb_second[architecture]
        overhead = max(0.0, sum(tally.gb_seconds) - self._handlers) * self._scale
        ticks, gigabytes = self._ticks(policy.mode), policy.dispatcher_mb / 1024
        awake = ticks * policy.tick_seconds + tally.waited * self._scale
        return (
            self._handlers * self._scale * of_second,
            prices.of_run(overhead, self._invocations(tally), architecture),
            prices.of_wakes(ticks) + prices.of_run(awake * gigabytes, ticks, architecture),
        )
