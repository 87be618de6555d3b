"""What each function's import costs: processor time of a fresh interpreter, the least of several."""

import resource
import subprocess
import sys
from pathlib import Path

from bench.measure import Measured

ROUNDS = 5
FUNCTIONS = Path(__file__).parent.parent / "functions"


def measure() -> list[Measured]:
    """Measure the interpreter alone and each function above it."""
    bare = _cpu_seconds("pass")
    return [
        Measured(f"import of {name}", f"{(_cpu_seconds(_importing(name)) - bare) * 1000:.0f} ms CPU")
        for name in ("worker", "dispatcher", "api")
        if (FUNCTIONS / name / "app.py").exists()
    ]


def _importing(name: str) -> str:
    return f"import sys; sys.path.insert(0, {str(FUNCTIONS / name)!r}); import app"


def _cpu_seconds(code: str) -> float:
    return min(_once(code) for _ in range(ROUNDS))


def _once(code: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)
