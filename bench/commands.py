"""The time and the processor time of a command of the pipeline, with its Java and its other processes."""

import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from time import perf_counter, sleep

import psutil

# Seconds between two looks at the processor time of the processes.
SAMPLED = 0.1


@dataclass(frozen=True)
class Used:
    """What a command took, in seconds."""

    seconds: float
    processor: float

    def __str__(self) -> str:
        """Return both."""
        return f"{self.seconds:.1f} s ({self.processor:.1f} s of CPU)"


def run(*arguments: str, codes: Sequence[int] = (0,)) -> Used:
    """Run a command of the pipeline. Raises RuntimeError if its exit code is another one."""
    command = [sys.executable, "-m", "minutehand_pipeline", *arguments]
    began, used = perf_counter(), dict[int, float]()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        process = psutil.Process(running.pid)
        # The system does not count Java's time for its parent, which does not wait for it.
        while running.poll() is None:
            with suppress(psutil.NoSuchProcess):
                for each in (process, *process.children(recursive=True)):
                    times = each.cpu_times()
                    used[each.pid] = times.user + times.system
            sleep(SAMPLED)
    if running.returncode not in codes:
        raise RuntimeError(f"{arguments[0]} failed with exit code {running.returncode}")
    return Used(perf_counter() - began, sum(used.values()))
