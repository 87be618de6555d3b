"""Jobs a minute in the mode `minute`, with workers that take further jobs and with workers that do not.

More jobs are due than the ticks can offer. Ticks and workers are real; the worker's invocations are threads.
`python -m bench --cases further-jobs` runs it.
"""

import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from bench.functions import KIND, MINUTE, Functions, serving
from bench.measure import Measured
from bench.results import Further
from bench.server import DATABASE, fresh, migrated
from minutehand.aws import LambdaInvoker
from minutehand.database import Database
from minutehand.model.worker_route import WorkerRoutes
from minutehand.settings import Settings
from minutehand.tick import tick

CAPACITY, SECONDS, MINUTES = 5, 3.0, 2
# The most jobs of an invocation: the default, and none but those it was invited for.
MOST = (100, 1)
FILL = "insert into minutehand.jobs_live (kind, payload) select %s, %s from generate_series(1, %s)"
DONE = "select count(*) from minutehand.jobs_done where not failed"


def measure(
    server: str, seconds: float = SECONDS, minutes: int = MINUTES, commit: str = "", minute: float = MINUTE
) -> Further:
    """Measure both workers at the same time, each with a database of its own; a minute may be shorter in a test."""
    migrated(server)
    urls = [fresh(server, f"{DATABASE}_{most}", DATABASE) for most in MOST]
    with ProcessPoolExecutor(len(MOST), mp_context=get_context("spawn")) as processes:
        runs = [
            processes.submit(finish, url, most, seconds, minutes, minute)
            for url, most in zip(urls, MOST, strict=True)
        ]
        rates = {str(most): run.result() for most, run in zip(MOST, runs, strict=True)}
    return Further(commit, CAPACITY, seconds, minutes, rates)


def finish(url: str, most: int, seconds: float, minutes: int, minute: float) -> float:
    """Tick for some minutes, and return the jobs that were finished in each of them on average."""
    database = Database(url)
    settings = Settings(capacity=CAPACITY, jobs_per_invocation=most, workers=WorkerRoutes("worker"))
    jobs = 2 * minutes * int(CAPACITY * minute / seconds)
    database.connection.execute(FILL, [KIND, str(seconds), jobs])
    with serving(Functions(url, settings, minute), "minute"):
        began = time.monotonic()
        for number in range(1, minutes + 1):
            tick(database, LambdaInvoker(), settings)
            # The rest of the minute, in which the workers run.
            time.sleep(max(0.0, began + number * minute - time.monotonic()))
        (record,) = database.connection.execute(DONE).fetchall()
    database.close()
    return float(record[0]) / minutes


def lines(further: Further) -> Sequence[Measured]:
    """Return the rates as lines of a table."""
    return [
        Measured(
            f"capacity {further.capacity}, jobs of {further.seconds:g} s, up to {most} an invocation",
            f"{rate:.1f} jobs a minute",
            f"{further.possible(most):.0f} possible",
            f"{rate / further.possible(most):.2f}",
        )
        for most, rate in further.rates.items()
    ]
