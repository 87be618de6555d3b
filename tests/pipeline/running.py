"""Programs of the tests in processes of their own, in an environment that says nothing but what a test says."""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from time import monotonic

ROOT = Path(__file__).parents[2]
SECONDS = 300  # a machine that does more at once than it can is slow, and no fault


def run(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run this Python to its end, with these variables on top of the shell's own, from the project's folder."""
    return subprocess.run(
        [sys.executable, *command], env=said(environment), cwd=ROOT, capture_output=True, text=True,
        stdin=subprocess.DEVNULL, timeout=SECONDS,
    )  # fmt: skip


def said(environment: Mapping[str, str]) -> dict[str, str]:
    """The shell's variables without what it says of Java and Spark, and these."""
    rest = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("JAVA", "SPARK_", "PYSPARK_"))
    }
    return {**rest, **environment}


def until(happened: Callable[[], object], meanwhile: "subprocess.Popen[bytes]") -> None:
    """Look until something has happened, which a program that runs meanwhile brings about; fail when it ends before."""
    deadline = monotonic() + SECONDS
    while not happened():
        with suppress(subprocess.TimeoutExpired):
            meanwhile.wait(0.05)
            assert happened(), f"it ended before, with {meanwhile.returncode}"
        assert monotonic() < deadline, "it never happened"
