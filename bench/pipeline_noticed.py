"""The effect of an archive on workers: p99 of offer and claim with and without a running archive."""

import os
import tempfile
from collections.abc import Callable
from datetime import date, timedelta
from multiprocessing import get_context
from multiprocessing.connection import Connection
from statistics import quantiles
from time import perf_counter, sleep

import psycopg

from bench.measure import Measured
from minutehand.claim import claim
from minutehand.database import Database
from minutehand.enqueue import enqueue
from minutehand.finish import finish
from minutehand.model.outcome import Done
from minutehand.offer import offer
from minutehand_pipeline.archive.archive import ArchiveConfig, archive
from minutehand_pipeline.lake import Lake
from minutehand_pipeline.session import build_session
from tests.pipeline.history import fill_history

DAYS = 3
# Seconds between jobs.
PAUSE = 0.01
LEASE, GRACE, TTL = timedelta(minutes=1), timedelta(seconds=2), timedelta(minutes=2)
# The start of a job and the durations of its offer and its claim, in seconds.
Sample = tuple[float, float, float]
Span = tuple[float, float]


def measure(url: str, jobs: int) -> list[Measured]:
    """Measure a worker with a hundred jobs per second while days of `jobs` finished jobs are archived.

    Spark runs at the lowest priority, because it normally runs on other machines. The database does not.
    """
    # Set before the session starts, because its tasks inherit the environment.
    os.environ["DATABASE_URL"] = url
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("truncate minutehand.jobs, minutehand.attempts, minutehand.events")
        connection.execute("truncate minutehand.archive_batches, minutehand.archived_days")
        days = fill_history(connection, DAYS * jobs, days=DAYS, alone=True)
        connection.execute("vacuum analyze minutehand.jobs_done")
    with tempfile.TemporaryDirectory() as folder:
        spans: list[Span] = []
        samples = _worked(url, lambda: spans.extend(_archived(Lake(folder), days)))
    return [_line(what, place, samples, spans) for place, what in ((1, "offer"), (2, "claim"))]


def _archived(lake: Lake, days: list[date]) -> list[Span]:
    """Archive a day, then wait as long as that took; return when archives ran. The first day is a warm-up."""
    # Applies to this process and its future children.
    os.nice(19)
    spark = build_session("minutehand bench", cores=1)
    spans = []
    for day in days:
        began = perf_counter()
        archive(
            spark,
            ArchiveConfig(lake=lake, homes=("jobs_done",), since=day, until=day, wait=timedelta(minutes=1)),
        )
        spans.append((began, perf_counter()))
        while perf_counter() < 2 * spans[-1][1] - began:
            sleep(0.1)
    return spans[1:]


def _worked(url: str, action: Callable[[], object]) -> list[Sample]:
    context = get_context("spawn")
    parent_end, worker_end = context.Pipe()
    worker = context.Process(target=_work, args=(url, worker_end), daemon=True)
    worker.start()
    parent_end.recv()
    action()
    parent_end.send("over")
    samples: list[Sample] = parent_end.recv()
    worker.join()
    return samples


def _work(url: str, pipe: Connection) -> None:
    database, samples = Database(url), list[Sample]()
    pipe.send("begun")
    while not pipe.poll(PAUSE):
        enqueue("echo", {"n": 1}, connection=database)
        began = perf_counter()
        offers = offer(database, 10, TTL).offers
        offered = perf_counter()
        jobs = claim(database, offers, LEASE, GRACE)
        samples.append((began, offered - began, perf_counter() - offered))
        for job in jobs:
            finish(job, Done())
    pipe.send(samples)
    database.close()


def _line(what: str, place: int, samples: list[Sample], spans: list[Span]) -> Measured:
    busy = [s[place] for s in samples if any(since <= s[0] < until for since, until in spans)]
    calm = [s[place] for s in samples if any(until <= s[0] < 2 * until - since for since, until in spans)]
    with_it, without = (quantiles(each, n=100)[-1] for each in (busy, calm))
    return Measured(
        f"p99 of {what} while an archive runs / while none does",
        f"{with_it * 1000:.2f} ms",
        f"{without * 1000:.2f} ms",
        f"{with_it / without:.2f}",
        "<= 1.20",
    )
