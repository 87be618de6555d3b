"""The arrival process as numbers, and what so many workers would have made of it: a fluid queue, minute by minute."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

Mode = Literal["minute", "prompt", "sleep"]
MODES: tuple[Mode, ...] = ("minute", "prompt", "sleep")
Numbers = npt.NDArray[np.float64]

START = 0.3  # seconds from an invitation to the handler's first line, on a warm function
RESUME = 15.0  # seconds that a paused database takes to come back (Aurora Serverless v2)
PAUSE = 5  # minutes without a connection after which such a database pauses
MOST_WORKERS = 10_000


@dataclass(frozen=True)
class Process:
    """What fell due in each minute of a window, minutes without jobs included.

    `jobs` and `work`, in seconds of one worker, are by minute; `tries` is the mean attempts of a job, `run` the mean
    and `run_p95` the 95th percentile of an attempt's seconds, `gigabytes` the mean memory of a worker.
    """

    jobs: Numbers
    work: Numbers
    tries: float
    run: float
    run_p95: float
    gigabytes: float

    @property
    def busy(self) -> Numbers:
        """The workers that each minute's jobs keep busy for a minute: L = λW."""
        return self.work / 60

    @property
    def idle_before(self) -> Numbers:
        """For each minute, how many there were without jobs just before it."""
        places = np.arange(len(self.jobs))
        last = np.maximum.accumulate(np.where(self.jobs > 0, places, -1))
        before = np.concatenate(([-1], last[:-1]))
        return (places - before - 1).astype(float)


def share_within(process: Process, mode: Mode, workers: int, chunk: int, objective: float) -> float:
    """Return the share of jobs that so many workers would have begun within the objective's seconds.

    Work is a fluid: it comes evenly over its minute, is served first in, first out, and carries over. In the modes
    minute and sleep it is handed out at the minute's end, in prompt as it comes. A job in a chunk is taken to wait
    for all others of the chunk.
    """
    came = process.jobs > 0
    if not came.any():
        return 1.0
    ahead = _left_over(process.work, workers)[came] / workers
    grows = process.work[came] / workers - 60  # over the minute: its own work comes, and so much is done
    delay = ahead + START + (chunk - 1) * process.run
    if mode != "prompt":
        delay = delay + 60
    elif objective < START + (chunk - 1) * process.run:
        return 0.0
    if mode == "sleep":
        delay = delay + np.where(process.idle_before[came] >= PAUSE, RESUME, 0.0)
    return float(np.average(_share_below(objective, delay, grows), weights=process.jobs[came]))


def workers_for(
    process: Process, mode: Mode, chunk: int, objective: float, target: float
) -> tuple[int, float]:
    """Return the fewest workers that reach the target, or else what as many as may be reach; and the share they do."""
    best = share_within(process, mode, MOST_WORKERS, chunk, objective)
    goal = min(target, best - 1e-3)
    low, high = 0, MOST_WORKERS
    while high - low > 1:
        middle = (low + high) // 2
        reached = share_within(process, mode, middle, chunk, objective) >= goal
        low, high = (low, middle) if reached else (middle, high)
    return high, share_within(process, mode, high, chunk, objective)


def awake_minutes(process: Process) -> float:
    """Return how many minutes of the window a database is awake that pauses after PAUSE minutes without jobs."""
    came = np.flatnonzero(process.jobs > 0)
    if not came.size:
        return 0.0
    gaps = np.diff(np.append(came, len(process.jobs)))
    return float(np.minimum(gaps, PAUSE + 1).sum())


def _left_over(work: Numbers, workers: int) -> Numbers:
    """Return the seconds of work that were still to do when each minute began (Lindley's recursion)."""
    total = np.cumsum(work - workers * 60)
    after = total - np.minimum(np.minimum.accumulate(total), 0)
    return np.concatenate(([0.0], after[:-1]))


def _share_below(limit: float, begin: Numbers, growth: Numbers) -> Numbers:
    """Return which share of something that changes evenly from `begin` by `growth` is at or below a limit."""
    steady = np.abs(growth) < 1e-9
    crossing = np.clip((limit - begin) / np.where(steady, 1.0, growth), 0, 1)
    share = np.where(growth > 0, crossing, 1 - crossing)
    return np.where(steady, begin <= limit, share)
