"""Prompt mode in the emulator, warm: python -m bench.prompt. With --mode minute, the mode `minute` to compare.

Measures the time from an enqueue to the start of the attempt, how late scheduled jobs start, the polls of a dispatcher
that waits, and what the mode adds to the bill. All times are of the database's clock.
"""

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from random import Random
from statistics import quantiles
from threading import Event, Thread

import click
import psycopg
from rich.console import Console
from rich.table import Table

from bench.server import database
from emulator import Clock, Emulator
from minutehand import Database, enqueue

ROOT = Path(__file__).parent.parent
TOKEN = "a-token-for-the-benchmark"
# us-east-1, arm64.
REQUEST, GB_SECOND = 0.20 / 1e6, 0.0000133334
MINUTE_SECONDS = 60.0
PERCENTILES = (50, 95, 99)
STARTS = """
    select extract(epoch from a.started - greatest(j.run_at, j.enqueued)) * 1000 as ms
      from minutehand.jobs_done j join minutehand.attempts a on a.job = j.id
     where j.key is null and j.queue = %s
"""


@dataclass(frozen=True)
class Stack:
    """The functions in the emulator, and their database."""

    lambda_: Emulator
    database: Database
    url: str
    output: list[str]

    def starts(self, queue: str) -> list[float]:
        """Return the milliseconds from due to start of the jobs of a queue."""
        with psycopg.connect(self.url) as connection:
            return [float(ms) for (ms,) in connection.execute(STARTS, [queue]).fetchall()]

    def until_done(self, queue: str, jobs: int, seconds: float = 90.0) -> list[float]:
        """Wait until all jobs of a queue are done, and return their milliseconds."""
        end = time.monotonic() + seconds
        while len(found := self.starts(queue)) < jobs and time.monotonic() < end:
            time.sleep(0.2)
        if len(found) < jobs:
            raise click.ClickException(f"{jobs - len(found)} of {jobs} jobs of {queue} did not start")
        return found

    def waits(self) -> list[dict[str, float]]:
        """Return the figures that dispatchers logged after a wait."""
        logged = [json.loads(line) for line in self.output if '"waited"' in line]
        return [line for line in logged if line.get("message") == "waited" and "polls" in line]

    def spent(self) -> tuple[int, float]:
        """Return invocations and GB-seconds up to now."""
        total = self.lambda_.meter.total
        return total.invocations, total.gb_seconds


@contextmanager
def stack(mode: str) -> Iterator[Stack]:
    """Run the stack in a mode, with warm functions, and set this process up to enqueue in it."""
    output: list[str] = []
    with database() as url:
        environment = {
            "DATABASE_URL": url,
            "MINUTEHAND_DATABASE_SECRET": "",
            "MINUTEHAND_DATABASE_TLS": "",
            "MINUTEHAND_API_TOKENS": TOKEN,
            "MINUTEHAND_API_TOKENS_SECRET": "",
        }
        with Emulator(
            ROOT / "template.yaml",
            environment=environment,
            parameters={"Mode": mode, "MaxConcurrency": "4"},
            concurrency=10,
            clock=Clock(),
            log=lambda _, line: output.append(line),
        ) as lambda_:
            os.environ |= {
                "MINUTEHAND_MODE": mode,
                "MINUTEHAND_WORKER": "minutehand-worker",
                "MINUTEHAND_DISPATCHER": "minutehand-dispatcher",
                "AWS_ENDPOINT_URL_LAMBDA": lambda_.url,
                "AWS_REGION": "us-east-1",
                "AWS_DEFAULT_REGION": "us-east-1",
                "AWS_ACCESS_KEY_ID": "emulator",
                "AWS_SECRET_ACCESS_KEY": "emulator",
            }
            made = Stack(lambda_, Database(url), url, output)
            warm(made)
            yield made
            made.database.close()


def warm(stack: Stack) -> None:
    """Start environments of the dispatcher and of the worker."""
    for _ in range(8):
        enqueue("echo", queue="warm", connection=stack.database)
    stack.lambda_.tick()
    for _ in range(30):
        if len(stack.starts("warm")) == 8:
            break
        time.sleep(1)
        stack.lambda_.tick()
    stack.until_done("warm", 8)
    # The dispatchers that wait must have returned.
    stack.lambda_.settle(120)


def immediate(stack: Stack, jobs: int, pause: float) -> tuple[list[float], float]:
    """Enqueue jobs that are due; return their milliseconds to the start, and those of an enqueue."""
    took = 0.0
    for number in range(jobs):
        began = time.perf_counter()
        enqueue("echo", number, queue="immediate", connection=stack.database)
        took += time.perf_counter() - began
        time.sleep(pause)
    return stack.until_done("immediate", jobs), took / jobs * 1000


def scheduled(stack: Stack, jobs: int) -> tuple[list[float], list[dict[str, float]]]:
    """Enqueue jobs that become due in a minute; return how late they start, and the figures of the wait."""
    chance, before = Random(7), len(stack.waits())
    for number in range(jobs):
        delay = timedelta(seconds=chance.uniform(5, 50))
        enqueue("echo", number, queue="scheduled", delay=delay, connection=stack.database)
    late = stack.until_done("scheduled", jobs)
    stack.lambda_.settle(120)
    return late, stack.waits()[before:]


def waiting(stack: Stack, seconds: float) -> tuple[list[float], list[dict[str, float]]]:
    """Let the dispatcher wait for one job."""
    before = len(stack.waits())
    enqueue("echo", queue="one", delay=timedelta(seconds=seconds), connection=stack.database)
    late = stack.until_done("one", 1)
    stack.lambda_.settle(120)
    return late, stack.waits()[before:]


@click.command()
@click.option("--jobs", default=100, show_default=True, help="Jobs of each measurement.")
@click.option("--pause", default=0.2, show_default=True, help="Seconds between enqueues.")
@click.option("--mode", default="prompt", type=click.Choice(["prompt", "minute"]), show_default=True)
def main(jobs: int, pause: float, mode: str) -> None:
    """Measure the mode `prompt`; with --mode minute, jobs that are due in that mode, to compare."""
    table = Table("what", *(f"p{each} ms" for each in PERCENTILES), "most ms", "more")
    with stack(mode) as running:
        if mode == "minute":
            with ticking(running):
                measure_immediate(running, table, jobs, pause)
        else:
            measure_immediate(running, table, jobs, pause)
            measure_scheduled(running, table, jobs)
    Console(width=120).print(table)


@contextmanager
def ticking(stack: Stack) -> Iterator[None]:
    """Tick once a minute, as the schedule does."""
    stopped = Event()

    def run() -> None:
        while not stopped.wait(MINUTE_SECONDS):
            stack.lambda_.tick()

    thread = Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()


def measure_immediate(running: Stack, table: Table, jobs: int, pause: float) -> None:
    """Add the line of jobs that are due when they are enqueued."""
    before = running.spent()
    late, each = immediate(running, jobs, pause)
    running.lambda_.settle(120)
    table.add_row(
        "enqueue to start", *figures(late), f"an enqueue takes {each:.1f} ms; {bill(running, before, jobs)}"
    )


def measure_scheduled(running: Stack, table: Table, jobs: int) -> None:
    """Add the lines of jobs that are due later."""
    late, waits = waiting(running, 20)
    table.add_row("one scheduled job", *figures(late), polls(waits))
    before = running.spent()
    late, waits = scheduled(running, jobs)
    table.add_row("scheduled jobs", *figures(late), f"{polls(waits)}; {bill(running, before, jobs)}")


def figures(values: list[float]) -> list[str]:
    """Return the percentiles and the maximum as text."""
    cut = quantiles(values, n=100, method="inclusive") if len(values) > 1 else values * 99
    return [f"{cut[each - 1]:.0f}" for each in PERCENTILES] + [f"{max(values):.0f}"]


def polls(waits: list[dict[str, float]]) -> str:
    """Return the queries of the dispatchers for each second that they waited."""
    seconds = sum(wait["wait_ms"] for wait in waits) / 1000
    number = sum(wait["polls"] for wait in waits)
    dispatches = sum(wait["dispatches"] for wait in waits)
    return f"{number:.0f} polls and {dispatches:.0f} dispatches in {seconds:.0f} s"


def bill(running: Stack, before: tuple[int, float], jobs: int) -> str:
    """Return what the jobs cost since `before`, for a million."""
    invocations, seconds = (now - then for now, then in zip(running.spent(), before, strict=True))
    dollars = (invocations * REQUEST + seconds * GB_SECOND) / jobs * 1e6
    return (
        f"{invocations / jobs:.2f} invocations and {seconds / jobs:.4f} GB-s a job, {dollars:.2f} $ a million"
    )


if __name__ == "__main__":
    main(prog_name="python -m bench.prompt")
