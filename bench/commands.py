"""The time, the processor time and the memory of a command of the pipeline, with its Java and its other processes."""

import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from time import perf_counter, sleep

import psutil

from bench.memory import memory_of

# Seconds between two looks at the processor time of the processes, and how many of them there are for each look at the
# memory, which takes longer.
SAMPLED, LOOKS = 0.1, 10


@dataclass(frozen=True)
class Used:
    """What a command took, in seconds, and its highest memory in bytes: of all its processes, and of Java.

    Memory that processes share counts once (PSS).
    """

    seconds: float
    processor: float
    memory: int = 0
    java: int = 0

    def __str__(self) -> str:
        """Return both."""
        return f"{self.seconds:.1f} s ({self.processor:.1f} s of CPU)"


def run(*arguments: str, codes: Sequence[int] = (0,)) -> Used:
    """Run a command of the pipeline. Raises RuntimeError if its exit code is another one."""
    command = [sys.executable, "-m", "minutehand_pipeline", *arguments]
    began, used = perf_counter(), dict[int, float]()
    memory, of_java, looks = 0, 0, 0
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        process = psutil.Process(running.pid)
        # The system does not count Java's time for its parent, which does not wait for it.
        while running.poll() is None:
            with suppress(psutil.NoSuchProcess):
                for each in (process, *process.children(recursive=True)):
                    times = each.cpu_times()
                    used[each.pid] = times.user + times.system
            if looks % LOOKS == 0:
                with suppress(psutil.NoSuchProcess):
                    java, others = memory_of((process, *process.children(recursive=True)))
                    memory, of_java = max(memory, java + others), max(of_java, java)
            looks += 1
            sleep(SAMPLED)
    if running.returncode not in codes:
        raise RuntimeError(f"{arguments[0]} failed with exit code {running.returncode}")
    return Used(perf_counter() - began, sum(used.values()), memory, of_java)
