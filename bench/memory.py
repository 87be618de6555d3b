"""How much memory Spark and its Python workers have at most, while something runs."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Event, Thread

import psutil

from bench.measure import Measured

SPARK, PYTHON = "Spark", "all Python workers"


@contextmanager
def peak_memory() -> Iterator[dict[str, float]]:
    """Look twice a second; what is shared by forked workers counts once (PSS). Bytes, by name."""
    peaks, over = {SPARK: 0.0, PYTHON: 0.0}, Event()

    def look() -> None:
        while not over.wait(0.5):
            held = dict.fromkeys(peaks, 0.0)
            for process in psutil.Process().children(recursive=True):
                try:
                    held[SPARK if process.name() == "java" else PYTHON] += process.memory_full_info().pss
                except (psutil.NoSuchProcess, psutil.AccessDenied):
                    continue
            peaks.update({name: max(peaks[name], held[name]) for name in peaks})

    thread = Thread(target=look, daemon=True)
    thread.start()
    try:
        yield peaks
    finally:
        over.set()
        thread.join()


def memory_lines(peaks: Mapping[str, float], aim: str = "") -> list[Measured]:
    """Return a line for each."""
    return [
        Measured(f"  peak memory of {name}", f"{peak / 2**20:,.0f} MB", aim=aim)
        for name, peak in peaks.items()
    ]
