"""Runs of `minutehand dev` as processes, and what they leave behind."""

import os
import subprocess
import sys
from pathlib import Path
from threading import Timer
from time import monotonic

import psutil

from tests.ports import free_port

SECONDS = 240


def start(project: Path, *arguments: str, url: str = "", port: int | None = None) -> subprocess.Popen[str]:
    environment = {**os.environ, **({"DATABASE_URL": url} if url else {}), "COLUMNS": "200"}
    return subprocess.Popen(
        [sys.executable, "-m", "minutehand", "dev", "--port", str(port or free_port()), *arguments],
        cwd=project,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def finished(run: subprocess.Popen[str]) -> str:
    output, _ = run.communicate(timeout=SECONDS)
    assert "Traceback" not in output, output
    return output


def until(run: subprocess.Popen[str], text: str) -> str:
    """Read the output of the run until it contains `text`; kill the run if that takes too long."""
    heard = ""
    limit = Timer(SECONDS, run.kill)
    limit.start()
    try:
        for line in run.stdout or ():
            heard += line
            if text in line:
                return heard
    finally:
        limit.cancel()
    raise AssertionError(f"the run ended, or was killed, without {text!r} in its output:\n{heard}")


def left_behind(project: Path) -> list[psutil.Process]:
    """Return the processes of a project that do not end: in its folder, or with its path in their command."""
    deadline = monotonic() + SECONDS
    while (left := processes_of(project)) and monotonic() < deadline:
        pass
    return left


def processes_of(project: Path) -> list[psutil.Process]:
    own = {os.getpid(), os.getppid()}
    return [
        process for process in psutil.process_iter() if process.pid not in own and _is_of(process, project)
    ]


def _is_of(process: psutil.Process, project: Path) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE and (
            process.cwd().startswith(str(project)) or any(str(project) in word for word in process.cmdline())
        )
    except psutil.Error:
        return False
