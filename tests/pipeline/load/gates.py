"""Stop a load at a point, kill it there, and check the rows afterwards."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import psycopg

from tests.pipeline.load.stage import Stage

ROOT = Path(__file__).parents[3]


ROWS = 3000


SECONDS = 600  # generous, for a busy machine


# Advisory locks of the test, at which a load waits.
COPYING, ENTERING = 1, 2


COUNTED = """
select count(*), count(distinct key), count(distinct run_at), sum((payload::text)::integer) from minutehand.jobs
"""


WAITING = """
select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query ilike %s
"""


GATES = """
create function minutehand.gate(number integer) returns boolean language plpgsql volatile as $$
begin
    perform pg_advisory_xact_lock_shared(number);
    return true;
end $$;
create function minutehand.gate_entering() returns trigger language plpgsql as $$
begin
    perform minutehand.gate(2);
    return null;
end $$;
alter domain minutehand.kind add constraint waits
    check (value is null or value <> 'gated' or minutehand.gate(1));
create trigger waits after insert on minutehand.jobs_live
    for each statement execute function minutehand.gate_entering();
"""


def every_job_once(stage: Stage) -> None:
    counted = stage.rows(COUNTED)
    assert counted == [(ROWS, ROWS, ROWS, ROWS * (ROWS - 1) // 2)]
    assert stage.rows("select created + replaced + ignored from minutehand.loads where load = 'once'") == [
        (ROWS,)
    ]


@dataclass
class Ended:
    process: "subprocess.Popen[bytes]"
    output: Path

    def done(self) -> bool:
        return self.process.poll() is not None

    def exception(self) -> str:
        return self.output.read_text()


def until(true: Callable[[], object], what: str, *running: "Future[Any] | Ended") -> None:
    deadline = monotonic() + SECONDS
    while not true():
        for each in running:
            assert not each.done(), each.exception()
        assert monotonic() < deadline, f"timed out waiting until {what}"
        sleep(0.05)


def waits(stage: Stage, words: str) -> Callable[[], object]:
    return lambda: stage.rows(WAITING, f"%{words}%")


def alone(stage: Stage, others: int) -> Callable[[], object]:
    return lambda: (
        stage.rows("select count(*) from pg_stat_activity where datname = current_database()")[0][0] <= others
    )


@contextmanager
def held(holder: psycopg.Connection, gate: int) -> Iterator[None]:
    holder.execute("select pg_advisory_lock(%s)", [gate])
    try:
        yield
    finally:
        holder.execute("select pg_advisory_unlock_all()")


@contextmanager
def driver(stage: Stage, jobs: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run the command line in another process."""
    command = [
        sys.executable,
        "-m",
        "minutehand_pipeline",
        "load",
        jobs,
        "--load",
        "once",
        "--rejects",
        str(stage.home / "r"),
    ]
    output = (stage.home / "output").open("w")
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=os.environ | {"DATABASE_URL": stage.address.url},
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=output,
    )
    output.close()
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
