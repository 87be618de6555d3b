"""Waits in the mode `prompt` under load, compared with a queue that starts each job as early as possible.

Jobs arrive at random, use a part of the capacity, and all take the same time. The functions are threads of another
process behind an endpoint: the worker, and the dispatcher with its tick of every minute. They do not run in the process
that enqueues, because the length of a chain of invocations counts for a process.
`python -m bench --cases prompt-load` runs it.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from math import log
from multiprocessing import get_context
from multiprocessing.connection import Connection
from random import Random
from statistics import quantiles
from threading import Event, Thread
from uuid import UUID

from bench.functions import ENVIRONMENT, KIND, MINUTE, Functions, serving
from bench.measure import Measured
from bench.results import Waits
from bench.server import migrated
from bench.theory import best, percentiles
from minutehand import Database, enqueue
from minutehand.aws import LambdaInvoker
from minutehand.model.worker_route import WorkerRoutes
from minutehand.queries.wait import wait as wait_for
from minutehand.settings import Settings

CAPACITY, LOAD, SECONDS, DURATION = 4, 0.8, 1.0, 150.0
PARTS = (0.5, 0.95, 0.99)
SEED = 7
TIMES = """
select extract(epoch from j.enqueued)::float8, extract(epoch from a.started - j.enqueued)::float8
  from minutehand.jobs_done j join minutehand.attempts a on a.job = j.id
"""


def measure(server: str, duration: float = DURATION, seconds: float = SECONDS, commit: str = "") -> Waits:
    """Enqueue jobs for some time, and return their waits. It changes the environment of the process."""
    url = migrated(server)
    with served(url):
        queue = Database(url)
        jobs = arrivals(queue, duration, seconds)
        times = [(float(row[0]), float(row[1])) for row in queue.connection.execute(TIMES).fetchall()]
        queue.close()
    if len(times) != jobs:
        raise RuntimeError(f"expected {jobs} jobs that ran once, got {len(times)}")
    arrived, waited = zip(*times, strict=True)
    waits = {
        "measured": at(waited),
        "the best for these times of arrival": at(best(arrived, CAPACITY, seconds)),
        f"M/D/{CAPACITY} in the long run": percentiles(CAPACITY, LOAD, seconds, PARTS),
    }
    rounded = {name: [round(value, 3) for value in values] for name, values in waits.items()}
    return Waits(commit, CAPACITY, LOAD, seconds, jobs, rounded)


def at(waits: tuple[float, ...] | list[float]) -> list[float]:
    """Return the percentiles of waits."""
    cut = quantiles(waits, n=100, method="inclusive")
    return [cut[round(part * 100) - 1] for part in PARTS]


def lines(waits: Waits) -> list[Measured]:
    """Return the waits as lines of a table."""
    return [
        Measured(f"waits of {waits.jobs} jobs: {name}", ", ".join(f"{value:.2f} s" for value in values))
        for name, values in waits.waits.items()
    ]


def serve(pipe: Connection, url: str) -> None:
    """Serve the functions until the other process ends it."""
    with serving(
        Functions(url, Settings(capacity=CAPACITY, workers=WorkerRoutes("worker"))), "prompt"
    ) as address:
        pipe.send(address)
        pipe.recv()


@contextmanager
def served(url: str) -> Iterator[None]:
    """Let Lambda's address be that of another process."""
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=serve, args=[theirs, url])
    process.start()
    os.environ |= {**ENVIRONMENT, "MINUTEHAND_MODE": "prompt", "AWS_ENDPOINT_URL_LAMBDA": ours.recv()}
    try:
        yield
    finally:
        process.terminate()
        process.join()


def arrivals(queue: Database, duration: float, seconds: float) -> int:
    """Enqueue jobs at random times, wait until all are done, and return their number."""
    ids, chance, rate = list[UUID](), Random(SEED), CAPACITY * LOAD / seconds
    arrival, end = time.monotonic(), time.monotonic() + duration
    with every_minute():
        while arrival < end:
            # The simulated time between two arrivals.
            time.sleep(max(0.0, arrival - time.monotonic()))
            ids.append(enqueue(KIND, seconds, connection=queue).id)
            arrival -= log(1 - chance.random()) / rate
        for job_id in ids:
            wait_for(job_id, timedelta(seconds=5 * MINUTE), connection=queue)
    return len(ids)


@contextmanager
def every_minute() -> Iterator[None]:
    """Be the schedule that invokes the dispatcher."""
    over = Event()

    def schedule() -> None:
        invoker = LambdaInvoker()
        invoker.invoke("dispatcher", {})
        while not over.wait(MINUTE):
            invoker.invoke("dispatcher", {})

    Thread(target=schedule, daemon=True).start()
    try:
        yield
    finally:
        over.set()
