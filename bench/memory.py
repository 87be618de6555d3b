"""Peak memory of Spark and its Python workers."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from threading import Event, Thread

import psutil

from bench.measure import Measured

JAVA = "java"
SPARK, PYTHON = "Spark", "all Python workers"


def memory_of(processes: Iterable[psutil.Process]) -> tuple[int, int]:
    """Return the bytes of those processes that are Java, and of the others; shared memory counts once (PSS)."""
    found = {True: 0, False: 0}
    for process in processes:
        with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            found[process.name() == JAVA] += process.memory_full_info().pss
    return found[True], found[False]


@contextmanager
def peak_memory() -> Iterator[dict[str, float]]:
    """Sample memory twice a second, in bytes by name; memory shared by forked workers counts once (PSS)."""
    peaks, over = {SPARK: 0.0, PYTHON: 0.0}, Event()

    def sample() -> None:
        while not over.wait(0.5):
            java, others = memory_of(psutil.Process().children(recursive=True))
            peaks.update({SPARK: max(peaks[SPARK], java), PYTHON: max(peaks[PYTHON], others)})

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
