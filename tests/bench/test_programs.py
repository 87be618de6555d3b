"""The benchmarks run each of our cases, account for every job, and leave nothing behind when they are interrupted."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from time import monotonic

import psutil
import pytest

from bench.queues.cases import BULK, HOT_PATHS, ONE, ONE_BATCH, Case, chunked
from bench.queues.runs import RunError, run
from bench.queues.systems import BARE, IN_BATCH, LIMITS, MINUTEHAND, ROOT, System
from tests.servers import Servers

SECONDS = 240
CASES = (*HOT_PATHS, ONE_BATCH, chunked(10, 2))


@pytest.fixture
def server(servers: Servers) -> str:
    return servers.address("direct-18").url


@pytest.mark.parametrize(
    ("case", "system"),
    [
        pytest.param(case, system, id=f"{case.name}-{system.name}")
        for case in CASES
        for system in LIMITS
        if case.name in system.cases
    ],
)
def test_case_handles_every_job(case: Case, system: System, server: str) -> None:
    result = run(system, case, server, jobs=20, workers=2)

    assert result.rate > 0
    assert result.client > 0
    # A few jobs may take less than the unit in which the kernel counts.
    assert result.server is None or result.server >= 0
    assert result.wal > 0


@pytest.mark.parametrize("counts", ["select 1, 19", "select 0, 19", "select 1, null"])
@pytest.mark.parametrize("case", [ONE, BULK], ids=lambda case: case.name)
def test_run_that_misses_a_job_is_an_error(case: Case, counts: str, server: str) -> None:
    with pytest.raises(RunError, match=r"bare psycopg, .*: expected"):
        run(replace(BARE, counts=counts), case, server, jobs=20, workers=1)


def test_run_whose_jobs_are_in_no_batch_is_an_error(server: str) -> None:
    without = replace(IN_BATCH, name=MINUTEHAND.name, command=MINUTEHAND.command)

    with pytest.raises(RunError, match="the tables have 20 waiting"):
        run(without, ONE_BATCH, server, jobs=10, workers=1)


def test_failing_client_is_an_error_with_its_output(server: str) -> None:
    broken = replace(BARE, command=(sys.executable, "-c", "raise SystemExit('no tables')"))

    with pytest.raises(RunError, match=r"bare psycopg: prepare failed:\nno tables"):
        run(broken, ONE, server, jobs=1, workers=1)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A long run with a server in `tmp_path`."""
    variables = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    with subprocess.Popen(
        [sys.executable, "-m", "bench", "--cases", "one", "--jobs", "1000000", "--rounds", "1"],
        cwd=ROOT,
        env={**variables, "TMPDIR": str(tmp_path)},
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        yield process
        process.terminate()


@pytest.mark.parametrize("interrupt", [signal.SIGINT, signal.SIGTERM])
def test_interrupt_ends_the_server_and_the_clients(
    interrupt: signal.Signals, bench: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    clients = wait_for_clients(bench.pid)
    servers = servers_of(tmp_path)

    bench.send_signal(interrupt)

    assert bench.wait(SECONDS) != 0
    gone, alive = psutil.wait_procs([*clients, *servers], SECONDS)
    assert len(gone) >= 2
    assert alive == []
    assert list(tmp_path.iterdir()) == []


def wait_for_clients(pid: int) -> list[psutil.Process]:
    """Wait for a client of the benchmark, and return its processes."""
    end = monotonic() + SECONDS
    while monotonic() < end:
        if clients := [child for child in psutil.Process(pid).children(recursive=True) if is_client(child)]:
            return clients
    raise AssertionError("no client started")


def is_client(process: psutil.Process) -> bool:
    """Whether the process runs a client; one that has just ended does not."""
    try:
        return any("bench.queues" in word for word in process.cmdline())
    except psutil.Error:
        return False


def servers_of(folder: Path) -> list[psutil.Process]:
    """Return the Postgres servers whose data is in the folder."""
    files = [link.resolve() / "postmaster.pid" for link in folder.glob("*/data")]
    return [psutil.Process(int(file.read_text().split()[0])) for file in files]
