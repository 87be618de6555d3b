"""The workload of a window, minute by minute, and how long a number of workers would make jobs wait."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]

# Seconds from an offer to the first line of the handler, in a warm function.
START = 0.3
MAX_WORKERS = 10_000


@dataclass(frozen=True)
class Workload:
    """The jobs that fell due in each minute of a window, including minutes without jobs.

    `work` is in seconds of one worker. `tries` is the mean number of attempts per job, `run` the mean and `run_p95` the
    95th percentile of an attempt's seconds, `gigabytes` the mean memory of a worker.
    """

    jobs: Numbers
    work: Numbers
    tries: float
    run: float
    run_p95: float
    gigabytes: float

    @property
    def busy(self) -> Numbers:
        """The number of workers that each minute's jobs keep busy, by Little's law: L = λW."""
        return self.work / 60


def share_in_time(workload: Workload, workers: int, chunk: int, objective: float) -> float:
    """Return the share of jobs that this many workers would start within the objective's seconds.

    Work is modelled as a fluid: it arrives evenly over its minute, is offered at the minute's end, is served first in,
    first out, and carries over. A job in a chunk is assumed to wait for all other jobs of the chunk.
    """
    arrived = workload.jobs > 0
    if not arrived.any():
        return 1.0
    ahead = _backlog(workload.work, workers)[arrived] / workers
    # How much the delay grows over the minute, while work arrives and is done.
    growth = workload.work[arrived] / workers - 60
    delay = ahead + START + (chunk - 1) * workload.run + 60
    return float(np.average(_share_below(objective, delay, growth), weights=workload.jobs[arrived]))


def workers_for(workload: Workload, chunk: int, objective: float, target: float) -> tuple[int, float]:
    """Return the fewest workers that reach the target, or the best possible share if none does; and that share."""
    best = share_in_time(workload, MAX_WORKERS, chunk, objective)
    goal = min(target, best - 1e-3)
    low, high = 0, MAX_WORKERS
    while high - low > 1:
        middle = (low + high) // 2
        reached = share_in_time(workload, middle, chunk, objective) >= goal
        low, high = (low, middle) if reached else (middle, high)
    return high, share_in_time(workload, high, chunk, objective)


def busiest_hours(workload: Workload) -> list[float]:
    """Return for each hour the number of workers that its busiest minute kept busy."""
    return [float(each) for each in workload.busy.reshape(-1, 60).max(axis=1)]


def _backlog(work: Numbers, workers: int) -> Numbers:
    """Return the seconds of work that are left at the start of each minute (Lindley's recursion)."""
    total = np.cumsum(work - workers * 60)
    after = total - np.minimum(np.minimum.accumulate(total), 0)
    return np.concatenate(([0.0], after[:-1]))


def _share_below(limit: float, begin: Numbers, growth: Numbers) -> Numbers:
    """Return the share at or below a limit of something that changes evenly from `begin` by `growth`."""
    steady = np.abs(growth) < 1e-9
    crossing = np.clip((limit - begin) / np.where(steady, 1.0, growth), 0, 1)
    share = np.where(growth > 0, crossing, 1 - crossing)
    return np.where(steady, begin <= limit, share)
