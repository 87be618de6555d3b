"""The workload of a window, minute by minute."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]


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


def busiest_hours(workload: Workload) -> list[float]:
    """Return for each hour the number of workers that its busiest minute kept busy."""
    return [float(each) for each in workload.busy.reshape(-1, 60).max(axis=1)]
