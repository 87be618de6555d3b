"""Start commands, kill them, and wait for what outlives them."""

import multiprocessing
import os
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from time import monotonic

import psutil

from tests.pipeline.running import ROOT

SECONDS = 600  # generous, for a busy machine
KINDS = ("driver", "driver and tasks", "driver, tasks and Java")
WEIGHTS = (64, 32, 4)


@dataclass
class Runner:
    """Runs commands on one Java, which is started again after it was killed."""

    home: Path
    # Whether the Java that runs has outlived its Python processes.
    lost_tasks: bool = False
    _java: "subprocess.Popen[str] | None" = None
    _gateway: tuple[str, str] = ("", "")
    _forks: multiprocessing.context.ForkServerContext = field(
        default_factory=lambda: multiprocessing.get_context("forkserver")
    )

    def __post_init__(self) -> None:
        """Import everything once, in the process from which commands fork."""
        self._forks.set_forkserver_preload(["tests.pipeline.kills.child"])

    @property
    def output(self) -> Path:
        """What the command that ran last has printed."""
        return self.home / "output"

    def start(self, words: tuple[str, ...], *, spark: bool) -> ForkServerProcess:
        """Start a command."""
        from tests.pipeline.kills.child import run

        self.output.unlink(missing_ok=True)
        gateway = self._running_java() if spark else None
        process = self._forks.Process(target=run, args=(words, gateway, str(self.output)))
        process.start()
        return process

    def complete(self, words: tuple[str, ...], *, spark: bool) -> tuple[int, float]:
        """Run a command to its end; return its exit code, and the seconds that it took."""
        process, began = self.start(words, spark=spark), monotonic()
        process.join(SECONDS)
        if process.exitcode is None:
            kill_group(process.pid)
            raise TimeoutError(f"{words} has not ended")
        return process.exitcode, monotonic() - began

    def kill(self, process: ForkServerProcess, kind: str) -> None:
        """Kill a driver, and with other kinds also the tasks of its Spark, or all of it."""
        if self._java is not None and kind == KINDS[2]:
            kill_tree(self._java.pid, itself=True)
            self._java.wait()
            self._java = None
        kill_group(process.pid)
        if self._java is not None and kind == KINDS[1]:
            kill_tree(self._java.pid, itself=False)
            self.lost_tasks = True
        process.join(SECONDS)

    def settle(self) -> None:
        """Wait until the tasks of killed drivers have ended."""
        if self._java is not None:
            self._ask("idle")

    def close(self) -> None:
        """End Spark."""
        if self._java is not None:
            kill_tree(self._java.pid, itself=True)
            self._java.wait()

    def _running_java(self) -> tuple[str, str]:
        if self._java is None:
            self._java = subprocess.Popen(
                [sys.executable, "-m", "tests.pipeline.kills.java"],
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                start_new_session=True,
            )
            self.lost_tasks = False
            port, secret = self._ask().split()
            self._gateway = port, secret
        return self._gateway

    def _ask(self, question: str = "") -> str:
        assert self._java is not None and self._java.stdin is not None and self._java.stdout is not None
        if question:
            self._java.stdin.write(f"{question}\n")
            self._java.stdin.flush()
        return self._java.stdout.readline().strip()


def kill_group(pid: int | None) -> None:
    assert pid is not None
    with suppress(ProcessLookupError):
        # The process has no group of its own in the first moment.
        os.kill(pid, signal.SIGKILL)
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


def kill_tree(pid: int, *, itself: bool) -> None:
    """Kill the processes below one: with Java's, or only those that run Python for it."""
    for each in psutil.Process(pid).children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if itself or "java" not in each.name():
                each.kill()
    if itself:
        os.kill(pid, signal.SIGKILL)
