"""The program of a client: `python -m MODULE VERB LOAD` does one thing and prints one line of JSON.

prepare    create the tables in an empty database
single     enqueue jobs one at a time on one connection
bulk       enqueue jobs together, on one connection
drain      handle all jobs with some workers

LOAD is a JSON object with the fields of Load. The address of the database is in DATABASE_URL. The times exclude the
start of the program and of its connections. This module imports only the standard library, because it also runs in
the environment of the peers.
"""

import json
import os
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from time import perf_counter, process_time
from typing import Any

# Longer than any worker needs to connect.
READY_SECONDS = 60
KIND = "noop"


@dataclass(frozen=True)
class Load:
    """The number of jobs and workers, and how many jobs a worker fetches at a time."""

    jobs: int
    workers: int = 4
    batch: int = 1

    @property
    def payloads(self) -> list[dict[str, int]]:
        """The payloads of all jobs."""
        return [{"n": n} for n in range(self.jobs)]


@dataclass(frozen=True)
class Timed:
    """What a verb took, and the number of jobs that it enqueued or handled.

    `processor` is the processor time of the client's processes, in seconds.
    """

    seconds: float
    processor: float
    jobs: int


Verb = Callable[[str, Load], Timed | None]
Drain = Callable[[str, Load], Timed]
# Connects, calls the function that it is given, and handles jobs until none is left; returns how many it handled.
Worker = Callable[[str, Load, Callable[[], object]], int]


def main(verbs: Mapping[str, Verb]) -> None:
    """Run the verb of the command line, and print its time."""
    _, verb, load = sys.argv
    timed = verbs[verb](os.environ["DATABASE_URL"], Load(**json.loads(load)))
    print(json.dumps(asdict(timed) if timed else None), flush=True)


def timed(jobs: int, run: Callable[[], object]) -> Timed:
    """Return the duration of a call that processes this many jobs."""
    began, busy = perf_counter(), process_time()
    run()
    return Timed(perf_counter() - began, process_time() - busy, jobs)


def drain_in_processes(worker: Worker) -> Drain:
    """Return a verb that runs each worker in its process; time starts when all are connected."""

    def drain(url: str, load: Load) -> Timed:
        context = get_context("fork")
        barrier = context.Barrier(load.workers + 1)
        with ProcessPoolExecutor(
            load.workers, mp_context=context, initializer=_share, initargs=(barrier,)
        ) as processes:
            futures = [processes.submit(_work, worker, url, load) for _ in range(load.workers)]
            barrier.wait(READY_SECONDS)
            began = perf_counter()
            ends = [future.result() for future in futures]
        handled, busy, last = zip(*ends, strict=True)
        return Timed(max(last) - began, sum(busy), sum(handled))

    return drain


_barrier: Any = None


def _share(barrier: Any) -> None:
    global _barrier
    _barrier = barrier


def _work(worker: Worker, url: str, load: Load) -> tuple[int, float, float]:
    """Return the number of jobs, the processor time, and the end; all processes have the same clock."""
    busy = 0.0

    def connected() -> None:
        nonlocal busy
        _barrier.wait(READY_SECONDS)
        busy = process_time()

    handled = worker(url, load, connected)
    return handled, process_time() - busy, perf_counter()
