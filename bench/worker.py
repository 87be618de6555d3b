"""CPU of a resident worker per job, and jobs per second: python -m bench.worker [--jobs N] [--processes 1 4].

The CPU is that of the worker's process, besides the handler, which does nothing. It includes the driver.
"""

import argparse
import sys
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import timedelta
from multiprocessing import get_context
from time import perf_counter, process_time

from bench.server import database
from minutehand.attempts.in_turn import run_jobs
from minutehand.claim import take
from minutehand.database import Database
from minutehand.enqueue import enqueue_many
from minutehand.handlers import HandlerTable
from minutehand.model.new_job import NewJob

LEASE, GRACE = timedelta(minutes=5), timedelta(seconds=2)
CHUNKS = (1, 10, 100, 1000)
ROUNDS = 3


async def _async_noop(payload: object) -> None:
    pass


HANDLERS = HandlerTable({"noop": lambda payload: None, "async_noop": _async_noop})


def main() -> None:
    """Print the minimum of the rounds for each size of chunk and number of processes."""
    parser = argparse.ArgumentParser(prog="python -m bench.worker", description=__doc__)
    parser.add_argument("--jobs", type=int, default=3000)
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 4])
    parser.add_argument("--chunks", type=int, nargs="+", default=CHUNKS)
    parser.add_argument("--kinds", nargs="+", default=["noop"])
    parser.add_argument("--profile", action="store_true", help="print a profile of the drain instead")
    options = parser.parse_args()
    with database() as url:
        if options.profile:
            return profile(url, options.kinds[0], options.jobs, options.chunks[0])
        for kind in options.kinds:
            for processes in options.processes:
                report(url, kind, processes, options.jobs, options.chunks)


def report(url: str, kind: str, processes: int, jobs: int, chunks: Sequence[int]) -> None:
    """Print a line for each size of chunk."""
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        for chunk in chunks:
            rounds = [drain(pool, url, kind, processes, jobs, chunk) for _ in range(ROUNDS)]
            seconds, cpu = (min(each) for each in zip(*rounds, strict=True))
            print(
                f"{kind} chunk {chunk:4}, {processes} processes: {cpu / jobs * 1e6:6.0f} µs CPU per job, "
                f"{jobs / seconds:6.0f} jobs/s"
            )
            sys.stdout.flush()


def drain(
    pool: ProcessPoolExecutor, url: str, kind: str, processes: int, jobs: int, chunk: int
) -> tuple[float, float]:
    """Drain the queue, and return the seconds and the CPU seconds of all workers."""
    fill(url, kind, jobs)
    began = perf_counter()
    cpu = sum(pool.map(drain_here, [url] * processes, [chunk] * processes))
    return perf_counter() - began, cpu


def fill(url: str, kind: str, jobs: int) -> None:
    """Replace all jobs by new ones."""
    with Database(url).connection as connection:
        connection.execute("truncate minutehand.jobs, minutehand.attempts")
        deque(enqueue_many((NewJob(kind) for _ in range(jobs)), connection=connection), maxlen=0)
        connection.execute("vacuum analyze minutehand.jobs_live")


def drain_here(url: str, chunk: int) -> float:
    """Take and run jobs until none is due, and return the CPU seconds, without those of the connection."""
    worker = Database(url)
    worker.run("clock")
    began = process_time()
    while jobs := take(worker, "default", chunk, LEASE, GRACE):
        run_jobs(jobs, HANDLERS, lambda: False, concurrency=10)
    seconds = process_time() - began
    worker.close()
    return seconds


def profile(url: str, kind: str, jobs: int, chunk: int) -> None:
    """Print where a worker spends its CPU."""
    from cProfile import Profile
    from pstats import Stats

    fill(url, kind, jobs)
    profiler = Profile(process_time)
    profiler.runcall(drain_here, url, chunk)
    Stats(profiler).sort_stats("tottime").print_stats(45)


if __name__ == "__main__":
    main()
