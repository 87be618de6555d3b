"""A candidate: settings, what the simulator found about them, and what they cost."""

from dataclasses import dataclass

from minutehand_pipeline.prices import Prices


@dataclass(frozen=True)
class Goal:
    """The goal of the advice: start `target` of the jobs within `objective` seconds, at these prices."""

    objective: float
    target: float
    prices: Prices
    architecture: str


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """Settings with their simulated result and their cost of a month.

    `within` is the share of the jobs that started in time, `late` the seconds within which the target share started,
    and `with_more` the share in time with more jobs (None: not tried).
    `utilization` is the share of the capacity that was in use, and `drain` the seconds from the time when the last job
    was due until all had started. `meets` whether all of these are good enough, and `advised` whether it is the advice.
    `jobs_cost` is the handlers' run time, `overhead_cost` their invocations, `ticks_cost` the dispatcher and its
    schedule.
    """

    mode: str
    capacity: int
    chunk: int
    jobs_per_invocation: int
    worker_timeout: float
    within: float
    late: float
    with_more: float | None = None
    utilization: float
    drain: float
    meets: bool
    advised: bool = False
    invocations: float
    ticks: float
    jobs_cost: float
    overhead_cost: float
    ticks_cost: float
    cost: float
