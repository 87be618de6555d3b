"""One run: a system in a case, on a fresh database, with all jobs accounted for."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass
from functools import cache

import psycopg
from psycopg.rows import tuple_row

from bench.queues.cases import Case
from bench.queues.clients.program import Load, Timed
from bench.queues.systems import ROOT, System
from bench.queues.usage import usage
from bench.server import DATABASE, fresh

SECONDS = 300


class RunError(Exception):
    """A run did not work, or did not handle every job."""


@dataclass(frozen=True)
class Run:
    """A run: jobs per second, and what a job costs: microseconds of processor time, and bytes of WAL."""

    rate: float
    client: float
    server: float | None
    wal: float


def run(system: System, case: Case, server: str, jobs: int, workers: int) -> Run:
    """Run a system. Raise RunError unless every job was enqueued and handled."""
    load = case.load(jobs, workers)
    url = fresh(server, template=_template(system, server))
    if case.verb == "drain":
        _execute(system, "bulk", url, load)
    _settle(url)
    before = usage(url)
    with _old_snapshot(url) if case.snapshot else nullcontext():
        timed = _execute(system, case.verb, url, load)
    used = usage(url).since(before)
    _check(system, case, url, load.jobs, timed)
    return Run(
        rate=load.jobs / timed.seconds,
        client=timed.processor / load.jobs * 1e6,
        server=None if used.seconds is None else used.seconds / load.jobs * 1e6,
        wal=used.wal / load.jobs,
    )


@cache
def _template(system: System, server: str) -> str:
    """Return the name of a database with the system's tables, which each run copies."""
    name = f"{DATABASE}_{system.name}"
    _execute(system, "prepare", fresh(server, name), Load(0))
    return name


def _execute(system: System, verb: str, url: str, load: Load) -> Timed:
    # The client starts processes of its own, which must end with it.
    process = subprocess.Popen(
        [*system.command, verb, json.dumps(asdict(load))],
        cwd=ROOT,
        env={**os.environ, "DATABASE_URL": url},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        out, errors = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        raise RunError(f"{system.title}: {verb} took longer than {SECONDS} s") from None
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    if process.returncode:
        raise RunError(f"{system.title}: {verb} failed:\n{errors.strip()[-2000:]}")
    answer = json.loads(out.splitlines()[-1])
    return Timed(**answer) if answer else Timed(0, 0, 0)


def _settle(url: str) -> None:
    """Vacuum, and write the dirty pages of what came before, so that no run pays for another."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("vacuum analyze")
        connection.execute("checkpoint")


@contextmanager
def _old_snapshot(url: str) -> Iterator[None]:
    """Keep a transaction open that sees the rows as they are now."""
    with psycopg.connect(url) as connection, connection.transaction(force_rollback=True):
        connection.execute("set transaction isolation level repeatable read")
        connection.execute("select 1")
        yield


def _check(system: System, case: Case, url: str, jobs: int, timed: Timed) -> None:
    try:
        with psycopg.connect(url) as connection, connection.cursor(row_factory=tuple_row) as cursor:
            [(waiting, done)] = cursor.execute(system.counts.encode()).fetchall()
    except psycopg.Error as error:
        raise RunError(f"{system.title}: cannot count its jobs: {error}") from error
    wanted = (0, jobs) if case.verb == "drain" else (jobs, 0)
    found = (waiting, wanted[1] if done is None else done)
    if found != wanted or timed.jobs != jobs:
        raise RunError(
            f"{system.title}, {case.title}: expected {jobs} jobs, got {timed.jobs} from the client; "
            f"the tables have {waiting} waiting and {done} done"
        )
