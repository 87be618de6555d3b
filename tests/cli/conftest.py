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
from minutehand.database import close_thread_databases
from tests.servers import Database

ROOT = Path(__file__).resolve().parents[2]
SECONDS_TO_END = 240
COMMAND = [sys.executable, "-m", "minutehand"]

Invoke = Callable[..., Result]
Completed = subprocess.CompletedProcess[bytes]
Run = Callable[..., Completed]


@pytest.fixture
def invoke(direct_database: Database, monkeypatch: pytest.MonkeyPatch) -> Invoke:
    """Run the command in this process, with the database of the test."""
    monkeypatch.setenv("DATABASE_URL", direct_database.url)
    monkeypatch.chdir(ROOT)

    def invoke(*arguments: str, stdin: str | bytes | None = None) -> Result:
        return CliRunner().invoke(cli, arguments, input=stdin, prog_name="minutehand")

    return invoke


@pytest.fixture
def execute(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the command in this process with the given database, and return what the real command returns."""

    def execute(*arguments: str, url: str | None = None, stdin: bytes = b"") -> Completed:
        with monkeypatch.context() as patch:
            patch.chdir(ROOT)
            if url:
                patch.setenv("DATABASE_URL", url)
            result = CliRunner().invoke(cli, arguments, input=stdin, prog_name="minutehand")
        close_thread_databases()
        return Completed(arguments, result.exit_code, result.stdout_bytes, result.stderr_bytes)

    return execute


@pytest.fixture
def run() -> Run:
    """Run the real command and wait for its end."""

    def run(*arguments: str, url: str | None = None, stdin: bytes = b"", **more: Any) -> Completed:
        environment = os.environ | ({"DATABASE_URL": url} if url else {})
        return subprocess.run(
            [*COMMAND, *arguments],
            env=environment,
            input=stdin,
            capture_output=True,
            timeout=SECONDS_TO_END,
            **{"cwd": ROOT, **more},
        )

    return run


@pytest.fixture
def work(run: Run, direct_database: Database) -> Callable[[], object]:
    """Run all due jobs in a separate process."""
    return lambda: run("work", "--drain", url=direct_database.url)


@pytest.fixture
def lines() -> Callable[[Result], list[dict[str, Any]]]:
    """Parse the output of `-o json`."""
    return lambda result: [json.loads(line) for line in result.stdout.splitlines()]


@pytest.fixture
def popen() -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Start the real command; it is killed if it still runs after the test."""
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
