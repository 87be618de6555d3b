"""`minutehand work` with several running async jobs: real processes and real signals."""

import os
import select
import signal
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from minutehand import Database, NewJob, enqueue_many

SECONDS = 180
HANDLER = '''
import asyncio, os

async def handle(payload):
    """Report the start, and end when the file exists."""
    try:
        report(payload, b"+")
        while not os.path.exists(payload["go"]):
            await asyncio.sleep(0.01)
    except BaseException:
        report(payload, b"-")
        raise

def report(payload, what):
    with open(payload["begun"], "wb", buffering=0) as begun:
        begun.write(what)
'''


class Gate:
    """A pipe on which handlers report, and a file that lets them end."""

    def __init__(self, folder):
        self.payload = {"begun": str(folder / "begun"), "go": str(folder / "go")}
        os.mkfifo(self.payload["begun"])
        # Open for writing too, so that it never ends.
        self._reports = os.open(self.payload["begun"], os.O_RDWR)

    def read(self, count):
        return b"".join(self._read() for _ in range(count))

    def _read(self):
        assert select.select([self._reports], [], [], SECONDS)[0], "no handler reports"
        return os.read(self._reports, 1)

    def open(self):
        Path(self.payload["go"]).touch()

    def close(self):
        os.close(self._reports)


@pytest.fixture
def gate(tmp_path):
    with closing(Gate(tmp_path)) as gate:
        yield gate


@pytest.fixture
def worker(popen, direct_database, gate, tmp_path):
    """Start a worker with five jobs, of which three are running."""
    (tmp_path / "handlers").mkdir()
    (tmp_path / "handlers" / "wait.py").write_text(HANDLER)
    with closing(Database(direct_database.url)) as database:
        list(enqueue_many([NewJob("wait", gate.payload) for _ in range(5)], connection=database))

    def start(*options):
        started = popen(
            "work",
            "--concurrency",
            "3",
            "--handlers",
            str(tmp_path / "handlers"),
            *options,
            url=direct_database.url,
        )
        assert gate.read(3) == b"+++"
        return started

    return start


def states(url):
    with psycopg.connect(url) as connection:
        rows = connection.execute("select minutehand.state(j), attempts from minutehand.jobs j").fetchall()
    return sorted(rows)


def test_signal_finishes_the_running_async_jobs_and_releases_the_rest(worker, direct_database, gate):
    process = worker()
    process.send_signal(signal.SIGTERM)
    gate.open()

    assert process.wait(SECONDS) == 0
    assert states(direct_database.url) == [("done", 1)] * 3 + [("due", 0)] * 2
    assert b"Traceback" not in process.stderr.read()


def test_second_signal_cancels_and_releases_all_async_jobs(worker, direct_database, gate):
    process = worker()
    process.send_signal(signal.SIGTERM)
    process.send_signal(signal.SIGINT)

    assert gate.read(3) == b"---"
    assert process.wait(SECONDS) == 130
    assert states(direct_database.url) == [("due", 0)] * 5
    assert b"Traceback" not in process.stderr.read()


@pytest.mark.parametrize("processes", ["1", "2"])
def test_stop_timeout_cancels_and_releases_all_async_jobs(worker, direct_database, processes):
    process = worker("--stop-timeout", "0s", "--processes", processes, "--chunk", "5")
    process.send_signal(signal.SIGTERM)

    assert process.wait(SECONDS) == 130
    assert states(direct_database.url) == [("due", 0)] * 5


def test_async_jobs_of_a_killed_worker_are_running_until_their_lease_ends(worker, direct_database):
    process = worker()
    process.kill()

    assert process.wait(SECONDS) == -signal.SIGKILL
    assert states(direct_database.url) == [("running", 1)] * 5
