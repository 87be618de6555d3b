"""Run the benchmarks: python -m bench [--quick]. A ratio above 1 means faster than the limit."""

import argparse
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path

import psycopg
from rich.console import Console
from rich.table import Table

from bench import (
    cold_start,
    drain,
    enqueue,
    pipeline_archive,
    pipeline_load,
    pipeline_noticed,
    pipeline_report,
    pipeline_simulate,
    pipeline_source,
    tick,
)
from bench.measure import Measured
from minutehand.local import postgres
from minutehand.schema.migrate import migrate
from minutehand.settings.table import DATABASE_URL


def main() -> None:
    """Measure everything on one server and print one table."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="use a tenth of the rows, to check that the benchmarks run"
    )
    scale = 10 if parser.parse_args().quick else 1
    with _database() as url:
        measured = [
            *enqueue.measure(url, one=2000 // scale, many=100_000 // scale),
            *drain.measure(url, jobs=2000 // scale),
            *tick.measure(url, tuple(n // scale for n in tick.BACKLOGS)),
            *cold_start.measure(),
            *_alone(pipeline_source.measure, url, 1_000_000 // scale),
            *_alone(pipeline_load.measure, url, 1_000_000 // scale),
            *_alone(pipeline_archive.measure, url, 2_500_000 // scale),
            *_alone(pipeline_noticed.measure, url, 500_000 // scale),
            *_alone(pipeline_report.measure, tuple(n // scale for n in (20_000, 200_000, 2_000_000))),
            *_alone(pipeline_simulate.measure, 10_000_000 // scale),
        ]
    Console(width=120).print(_table(measured))


def _alone(measure: Callable[..., list[Measured]], *arguments: object) -> list[Measured]:
    """Measure in a separate process, because a process has one Spark session with fixed cores and memory."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(measure, *arguments).result()


@contextmanager
def _database() -> Iterator[str]:
    if url := DATABASE_URL.read():
        yield _fresh(url)
        return
    with tempfile.TemporaryDirectory() as directory:
        server = postgres.start(Path(directory), settings={"shared_buffers": "256MB"})
        try:
            yield _fresh(server.url)
        finally:
            server.stop()


def _fresh(url: str) -> str:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("drop database if exists minutehand_bench with (force)")
        connection.execute("create database minutehand_bench")
    fresh = psycopg.conninfo.make_conninfo(url, dbname="minutehand_bench")
    migrate(fresh)
    return fresh


def _table(measured: list[Measured]) -> Table:
    table = Table(
        "what",
        "ours",
        "limit",
        "ratio",
        "target",
        title="medians of the rounds; ratio = speed against the limit",
    )
    for row in measured:
        table.add_row(row.what, row.ours, row.limit, row.ratio, row.aim)
    return table


if __name__ == "__main__":
    main()
