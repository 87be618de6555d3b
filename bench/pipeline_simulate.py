"""Simulate: ten million recorded attempts under another policy, by Spark on two cores; seconds, and peak memory."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from time import perf_counter, process_time

import psutil

from bench.measure import Measured

ATTEMPTS = 10_000_000
AIM = "stated"


def measure(attempts: int = ATTEMPTS, cores: int = 2) -> Iterator[Measured]:
    """Play a month whose attempts fail one time in ten, with max_attempts 3, and one window in this process."""
    from minutehand_pipeline.session import build_session
    from minutehand_pipeline.simulate.policy import Policy
    from minutehand_pipeline.simulate.run import Config, run
    from minutehand_pipeline.simulate.synthetic import Synthetic

    spark = build_session("bench simulate", cores=cores, settings={"spark.driver.memory": "3g"})
    days, fails = 30, 0.1
    rate = attempts * (1 - fails) / days / 24 / 60
    month = Synthetic(rate=(rate,), days=days, run=1.0, fails=fails)
    policy = Policy(name="max_attempts 3", capacity=10_000, chunk=10, max_attempts=3)
    with _peak() as peaks:
        began = perf_counter()
        result = run(spark, Config(synthetic=month, policies=(policy,)))
        took = perf_counter() - began
    (played,) = result.played
    yield Measured(
        f"simulate {played.attempts:,} attempts on {cores} cores, {days} windows",
        f"{took:,.0f} s", "", f"{played.attempts / took:,.0f}/s", AIM,
    )  # fmt: skip
    for name, peak in peaks.items():
        yield Measured(f"  peak memory of {name}", f"{peak / 2**20:,.0f} MB", "", "", "bounded by a window")
    yield _engine(attempts // 100)


@contextmanager
def _peak() -> Iterator[dict[str, float]]:
    """Look twice a second at how much memory Spark and its Python workers have."""
    peaks, over = {"Spark": 0.0, "all Python workers": 0.0}, Event()

    def look() -> None:
        while not over.wait(0.5):
            held = dict.fromkeys(peaks, 0.0)
            for process in psutil.Process().children(recursive=True):
                try:
                    held["Spark" if process.name() == "java" else "all Python workers"] += (
                        process.memory_info().rss
                    )
                except psutil.NoSuchProcess:
                    continue
            peaks.update({name: max(peaks[name], held[name]) for name in peaks})

    thread = Thread(target=look, daemon=True)
    thread.start()
    try:
        yield peaks
    finally:
        over.set()
        thread.join()


def _engine(attempts: int) -> Measured:
    """Measure the engine alone, in one process and without Spark."""
    import pyarrow as pa

    from minutehand_pipeline.simulate.arrivals import read_arrivals
    from minutehand_pipeline.simulate.engine import Simulation
    from minutehand_pipeline.simulate.policy import Policy
    from minutehand_pipeline.simulate.synthetic import Synthetic, hour_of

    day = Synthetic(rate=(attempts / 24 / 60,), run=1.0)
    table = pa.Table.from_batches(batch for hour in range(24) for batch in hour_of(day, 0, hour))
    jobs = read_arrivals(table, 0.0, 1e12, named=False)
    began = process_time()
    Simulation(Policy(capacity=10_000, chunk=10), jobs).run()
    took = process_time() - began
    return Measured(
        f"  the engine alone, of {len(jobs):,} jobs",
        f"{took * 1e6 / len(jobs):,.1f} µs",
        "",
        f"{len(jobs) / took:,.0f}/s",
    )


if __name__ == "__main__":
    for row in measure(int(os.environ.get("ATTEMPTS", ATTEMPTS))):
        print(row.what, row.ours, row.ratio)
