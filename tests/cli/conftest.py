"""Run the command line in this process, or as a real command if the difference matters."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Timer
from typing import Any

import pytest
from click.testing import CliRunner, Result

from minutehand.cli.app import cli
from tests.servers import Database

ROOT = Path(__file__).resolve().parents[2]
SECONDS_TO_END = 100
COMMAND = [sys.executable, "-m", "minutehand"]

Invoke = Callable[..., Result]
Run = Callable[..., subprocess.CompletedProcess[bytes]]


@pytest.fixture
def invoke(direct_database: Database, monkeypatch: pytest.MonkeyPatch) -> Invoke:
    """Run the command in this process, against a database of the test's own."""
    monkeypatch.setenv("DATABASE_URL", direct_database.url)
    monkeypatch.chdir(ROOT)

    def invoke(*arguments: str, stdin: str | bytes | None = None) -> Result:
        return CliRunner().invoke(cli, arguments, input=stdin, prog_name="minutehand")

    return invoke


@pytest.fixture
def run() -> Run:
    """Run the real command to its end."""

    def run(
        *arguments: str, url: str | None = None, stdin: bytes = b"", **more: Any
    ) -> subprocess.CompletedProcess[bytes]:
        environment = os.environ | ({"DATABASE_URL": url} if url else {})
        return subprocess.run(
            [*COMMAND, *arguments],
            env=environment,
            input=stdin,
            capture_output=True,
            cwd=ROOT,
            timeout=120,
            **more,
        )

    return run


@pytest.fixture
def work(run: Run, direct_database: Database) -> Callable[[], object]:
    """Work everything off that is due, in a process whose signals are its own."""
    return lambda: run("work", "--drain", url=direct_database.url)


@pytest.fixture
def lines() -> Callable[[Result], list[dict[str, Any]]]:
    """Read what `-o json` printed."""
    return lambda result: [json.loads(line) for line in result.stdout.splitlines()]


@pytest.fixture
def popen() -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Start the real command; what still runs after the test, or hangs in it, is killed."""
    started: list[tuple[subprocess.Popen[bytes], Timer]] = []

    def popen(*arguments: str, url: str, **more: Any) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [*COMMAND, *arguments],
            env=os.environ | {"DATABASE_URL": url},
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **more,
        )
        watchdog = Timer(SECONDS_TO_END, process.kill)
        watchdog.start()
        started.append((process, watchdog))
        return process

    yield popen
    for process, watchdog in started:
        watchdog.cancel()
        process.kill()
        process.wait()
        for pipe in (process.stdout, process.stderr):
            if pipe:
                pipe.close()
