"""Waits in the mode `prompt` under load: python -m bench.prompt_load.

Jobs arrive at random, at a part of what the capacity can do, and take random times. The functions are threads of
another process behind an endpoint: the worker, and the dispatcher with its tick of every minute. They do not run in the
process that enqueues, because the length of a chain of invocations counts for a process. The theory is that of a queue
with several servers (Erlang C).
"""

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from math import factorial, log
from multiprocessing import get_context
from multiprocessing.connection import Connection
from random import Random
from statistics import quantiles
from threading import Event, Thread
from typing import Any
from uuid import UUID

import click

from bench.server import database
from minutehand import Database, enqueue
from minutehand.aws import LambdaInvoker
from minutehand.handlers import HandlerTable
from minutehand.invocations.running import Invocation
from minutehand.local.lambda_endpoint import Call, LambdaEndpoint, Reply
from minutehand.model.invitation import parse
from minutehand.model.worker_route import WorkerRoutes
from minutehand.queries.wait import wait as wait_for
from minutehand.settings import Settings
from minutehand.tick import tick
from minutehand.waking.dispatching import wait

MINUTE = 60.0
WAITS = """
select extract(epoch from a.started - j.enqueued)::float8
  from minutehand.jobs_done j join minutehand.attempts a on a.job = j.id
"""


class Functions:
    """The worker and the dispatcher; each invocation is a thread with a database of its own."""

    def __init__(self, url: str, settings: Settings) -> None:
        """Run nothing yet."""
        self._url, self._settings = url, settings
        self.counts = {"worker": 0, "dispatcher": 0}

    def handle(self, call: Call) -> Reply:
        """Start an invocation, and accept it."""
        self.counts[call.function] += 1
        event = json.loads(call.payload)
        Thread(
            target=self._work if call.function == "worker" else self._dispatch, args=[event], daemon=True
        ).start()
        return Reply(status=202)

    def _dispatch(self, event: dict[str, Any]) -> None:
        """Tick, if the schedule invoked the dispatcher, and wait inside the minute."""
        queue = Database(self._url)
        if not event:
            tick(queue, LambdaInvoker(), self._settings)
        wait(queue, LambdaInvoker(), self._settings, event, time.monotonic() + MINUTE + 5)
        queue.close()

    def _work(self, event: dict[str, Any]) -> None:
        queue, invited, end = Database(self._url), parse(event), time.monotonic() + MINUTE
        handlers = HandlerTable({"sleep": lambda seconds: time.sleep(seconds)})
        run = Invocation(
            queue, handlers, lambda: timedelta(seconds=end - time.monotonic()), timedelta(seconds=2)
        )
        run.run(invited)
        run.run_next(invited, 1000)
        run.store_times()
        queue.close()


def serve(pipe: Connection, url: str, capacity: int) -> None:
    """Serve the functions until the other process ends it, and send how often each was invoked."""
    functions = Functions(url, Settings(capacity=capacity, workers=WorkerRoutes("worker")))
    with LambdaEndpoint(functions) as endpoint:
        os.environ["AWS_ENDPOINT_URL_LAMBDA"] = endpoint.url
        pipe.send(endpoint.url)
        pipe.recv()
    pipe.send(functions.counts)


@contextmanager
def serving(url: str, capacity: int) -> Iterator[Connection]:
    """Let Lambda's address be that of another process; it yields the pipe to it."""
    os.environ |= {
        "MINUTEHAND_MODE": "prompt",
        "MINUTEHAND_WORKER": "worker",
        "MINUTEHAND_DISPATCHER": "dispatcher",
        "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "bench",
        "AWS_SECRET_ACCESS_KEY": "bench",
    }
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=serve, args=[theirs, url, capacity])
    process.start()
    os.environ["AWS_ENDPOINT_URL_LAMBDA"] = ours.recv()
    try:
        yield ours
    finally:
        process.terminate()
        process.join()


def theory(servers: int, load: float, mean: float) -> tuple[float, float, float]:
    """Return the part of the jobs that wait, and the median and 95th percentile of the wait in seconds (M/M/c)."""
    offered = servers * load
    last = offered**servers / factorial(servers) / (1 - load)
    waiting = last / (sum(offered**n / factorial(n) for n in range(servers)) + last)
    rate = servers * (1 - load) / mean
    median, most = (max(0.0, log(waiting / (1 - part)) / rate) for part in (0.5, 0.95))
    return waiting, median, most


@click.command()
@click.option("--seconds", default=180.0, show_default=True)
@click.option("--capacity", default=4, show_default=True)
@click.option("--load", default=0.8, show_default=True)
@click.option("--mean", default=1.0, show_default=True, help="Seconds that a job takes.")
@click.option("--seed", default=7, show_default=True)
def main(seconds: float, capacity: int, load: float, mean: float, seed: int) -> None:
    """Enqueue jobs for some time, and print their waits."""
    with database() as url, serving(url, capacity) as functions:
        queue = Database(url)
        jobs = arrivals(queue, seconds, Random(seed), capacity * load / mean, mean)
        waits = sorted(float(row[0]) for row in queue.connection.execute(WAITS).fetchall())
        queue.close()
        functions.send("end")
        counts = functions.recv()
    cut = quantiles(waits, n=100, method="inclusive")
    part, median, most = theory(capacity, load, mean)
    print(f"{len(waits)} of {jobs} jobs; invocations: {counts}")
    print(
        f"measured: median {cut[49]:.2f} s, p95 {cut[94]:.2f} s, p99 {cut[98]:.2f} s, most {waits[-1]:.2f} s"
    )
    print(f"theory:   median {median:.2f} s, p95 {most:.2f} s; {part:.0%} of the jobs wait")


def arrivals(queue: Database, seconds: float, chance: Random, rate: float, mean: float) -> int:
    """Enqueue jobs at random times, wait until all are done, and return their number."""
    ids, arrival, end = list[UUID](), time.monotonic(), time.monotonic() + seconds
    with every_minute():
        while arrival < end:
            # The simulated time between two arrivals.
            time.sleep(max(0.0, arrival - time.monotonic()))
            ids.append(enqueue("sleep", -mean * log(1 - chance.random()), connection=queue).id)
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


if __name__ == "__main__":
    main(prog_name="python -m bench.prompt_load")
