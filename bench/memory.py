"""Peak memory of Spark and its Python workers."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Event, Thread

import psutil

from bench.measure import Measured

SPARK, PYTHON = "Spark", "all Python workers"


@contextmanager
def peak_memory() -> Iterator[dict[str, float]]:
    """Sample memory twice a second, in bytes by name; memory shared by forked workers counts once (PSS)."""
    peaks, over = {SPARK: 0.0, PYTHON: 0.0}, Event()

    def sample() -> None:
        while not over.wait(0.5):
            memory = dict.fromkeys(peaks, 0.0)
            for process in psutil.Process().children(recursive=True):
                try:
                    memory[SPARK if process.name() == "java" else PYTHON] += process.memory_full_info().pss
                except (psutil.NoSuchProcess, psutil.AccessDenied):
                    continue
            peaks.update({name: max(peaks[name], memory[name]) for name in peaks})

    thread = Thread(target=sample, daemon=True)
    thread.start()
    try:
        yield peaks
    finally:
        over.set()
        thread.join()


def memory_lines(peaks: Mapping[str, float], aim: str = "") -> list[Measured]:
    """Return a line for each peak."""
    return [
        Measured(f"  peak memory of {name}", f"{peak / 2**20:,.0f} MB", aim=aim)
        for name, peak in peaks.items()
    ]
