"""Run the tests' programs in other processes with a clean environment."""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from time import monotonic

ROOT = Path(__file__).parents[2]
SECONDS = 300  # generous, for a busy machine


def run(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run this Python in the project's folder, with additional environment variables."""
    return subprocess.run(
        [sys.executable, *command],
        env=clean_environment(environment),
        cwd=ROOT,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=SECONDS,
    )


def clean_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment without variables of Java and Spark, and with the given ones."""
    rest = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("JAVA", "SPARK_", "PYSPARK_"))
    }
    return {**rest, **environment}


def until(happened: Callable[[], object], program: "subprocess.Popen[bytes]") -> None:
    """Wait for something that a running program causes; fail if the program exits first."""
    deadline = monotonic() + SECONDS
    while not happened():
        with suppress(subprocess.TimeoutExpired):
            program.wait(0.05)
            assert happened(), f"it exited with {program.returncode}"
        assert monotonic() < deadline, "timed out"
