"""The effect of an archive on workers, by the number of its readers: p99 of offer and claim, and rows per second."""

import os
import random
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from multiprocessing import get_context
from multiprocessing.connection import Connection
from statistics import median, quantiles
from time import perf_counter, sleep
from typing import TYPE_CHECKING

import psutil
import psycopg

from bench.measure import Measured
from bench.page.targets import ARCHIVE_MOST
from bench.results import Archives
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

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROUNDS = 3
# Readers of each run; None is the default, which adapts to the latency. Then those of runs in which Spark has a core of
# its own, as if it was on another machine.
READERS, READERS_APART = (1, 2, 4, None), (1, None)
ADAPTIVE, APART = "adaptive", "Spark on another core"
# Seconds between jobs.
PAUSE = 0.01
LEASE, GRACE, TTL = timedelta(minutes=1), timedelta(seconds=2), timedelta(minutes=2)
# The start of a job and the durations of its offer and its claim, in seconds.
Sample = tuple[float, float, float]


@dataclass(frozen=True)
class Span:
    """A pause, and the archive after it: the readers, and the times in seconds."""

    readers: int | None
    paused: float
    began: float
    ended: float


@dataclass(frozen=True)
class Run:
    """An archive with some number of readers: rows per second, and p99 in seconds, with it and before it."""

    readers: int | None
    rate: float
    offer: tuple[float, float]
    claim: tuple[float, float]


def measure(url: str, rows: int) -> list[Measured]:
    """Measure the runs on shared cores and return a line for each number of readers."""
    return lines(archives(url, rows))


def archives(url: str, rows: int, commit: str = "", *, apart: bool = False) -> Archives:
    """Measure the runs, and return them by the number of readers."""
    measured = Archives(commit, rows)
    for run in runs(url, rows, apart=apart):
        name = ADAPTIVE if run.readers is None else str(run.readers)
        if apart:
            name = f"{name}, {APART}"
        measured.rates.setdefault(name, []).append(round(run.rate))
        for each, p99s in ((measured.offers, run.offer), (measured.claims, run.claim)):
            each.setdefault(name, []).append([round(seconds * 1000, 2) for seconds in p99s])
    return measured


def archives_apart(url: str, rows: int, commit: str = "") -> Archives:
    """Measure the runs in which Spark has a core of its own. The server has all cores again afterwards."""
    cores = sorted(os.sched_getaffinity(0))
    try:
        return archives(url, rows, commit, apart=True)
    finally:
        with psycopg.connect(url, autocommit=True) as connection:
            bind_server(connection, cores)


def runs(url: str, rows: int, *, apart: bool) -> list[Run]:
    """Archive a day of `rows` finished jobs in interleaved rounds, while a worker has a hundred jobs per second.

    Each archive follows a time without one, which is as long as the archive before it. If Spark is apart, the server
    and the worker have the other cores.
    """
    cores = sorted(os.sched_getaffinity(0))
    # Set before the session starts, because its tasks inherit the environment.
    os.environ["DATABASE_URL"] = url
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("truncate minutehand.jobs, minutehand.attempts, minutehand.events")
        [day] = fill_history(connection, rows, alone=True)
        connection.execute("vacuum analyze minutehand.jobs_done")
        if apart:
            bind_server(connection, cores[1:])
            os.sched_setaffinity(0, cores[1:])
    readers_of_runs = READERS_APART if apart else READERS
    with _worker(url) as pipe:
        if apart:
            os.sched_setaffinity(0, cores[:1])
        spark = build_session("minutehand bench", cores=4, in_background=True)
        lasted = _archived(url, spark, day, 1)
        spans = list[Span]()
        for _ in range(ROUNDS):
            for readers in random.sample(readers_of_runs, len(readers_of_runs)):
                paused = perf_counter()
                sleep(lasted)
                began = perf_counter()
                lasted = _archived(url, spark, day, readers)
                spans.append(Span(readers, paused, began, began + lasted))
        pipe.send("over")
        samples: list[Sample] = pipe.recv()
    return [_run(rows, samples, span) for span in spans]


def bind_server(connection: psycopg.Connection, cores: Sequence[int]) -> None:
    """Let all processes of the connection's server use only these cores. Raise RuntimeError if it is elsewhere."""
    backend = psutil.Process(connection.info.backend_pid)
    postmaster = backend.parent()
    if postmaster is None or "postgres" not in postmaster.name() or "postgres" not in backend.name():
        raise RuntimeError(
            "the server must be on this machine, so that it can be bound to other cores than Spark"
        )
    for process in (postmaster, *postmaster.children(recursive=True)):
        process.cpu_affinity(list(cores))


def _archived(url: str, spark: "SparkSession", day: date, readers: int | None) -> float:
    """Archive the day to a new lake; return how many seconds that took."""
    with psycopg.connect(url, autocommit=True) as connection, tempfile.TemporaryDirectory() as folder:
        connection.execute("truncate minutehand.archive_batches, minutehand.archived_days")
        config = ArchiveConfig(
            lake=Lake(folder),
            homes=("jobs_done",),
            since=day,
            until=day,
            wait=timedelta(minutes=1),
            readers=readers,
        )
        began = perf_counter()
        archive(spark, config)
        return perf_counter() - began


@contextmanager
def _worker(url: str) -> Iterator["Connection[str, list[Sample]]"]:
    context = get_context("spawn")
    parent_end, worker_end = context.Pipe()
    worker = context.Process(target=_work, args=(url, worker_end), daemon=True)
    worker.start()
    parent_end.recv()
    yield parent_end
    worker.join()


def _work(url: str, pipe: "Connection[object, str]") -> None:
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


def _run(rows: int, samples: Sequence[Sample], span: Span) -> Run:
    def p99(place: int, since: float, until: float) -> float:
        within = [each[place] for each in samples if since <= each[0] < until]
        return quantiles(within, n=100)[-1]

    offers, claims = (
        (p99(place, span.began, span.ended), p99(place, span.paused, span.began)) for place in (1, 2)
    )
    return Run(span.readers, rows / (span.ended - span.began), offers, claims)


def lines(measured: Archives) -> list[Measured]:
    """Return a line for each number of readers."""
    return [
        Measured(
            f"{name} readers: rows/s; p99 of offer and of claim, with / without",
            f"{median(rates):,.0f}",
            ratios(measured.offers[name]),
            ratios(measured.claims[name]),
            f"<= {ARCHIVE_MOST:.2f}",
        )
        for name, rates in sorted(measured.rates.items())
    ]


def ratios(pairs: Sequence[Sequence[float]]) -> str:
    """Return the median ratio of the rounds, and the lowest and the highest."""
    found = [with_it / without for with_it, without in pairs]
    return f"{median(found):.2f} ({min(found):.2f} to {max(found):.2f})"
