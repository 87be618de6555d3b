"""Type checkers accept and reject the calls of a decorated function as Python would."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Every line that ends with `# wrong` must have an error, and no other line may.
SAMPLE = """
from datetime import timedelta
from typing import Any, assert_type

import psycopg

from minutehand import Enqueued, Job, NewJob, job, wait


class Receipt:
    number: int


@job
def welcome(email: str, plan: str = "free") -> Receipt:
    return Receipt()


@job(queue="mail", max_attempts=5, every="@daily", zone="Europe/Berlin")
async def report(job: Job, days: int = 7) -> list[str]:
    return []


@job(queue=5)  # wrong
def refused() -> None: ...


@job(key="a")  # wrong
def also_refused() -> None: ...


def calls(current: Job) -> None:
    assert_type(welcome("ada@example.com"), Receipt)
    assert_type(welcome.enqueue("ada@example.com", plan="pro"), Enqueued[Receipt])
    assert_type(welcome.options(delay=timedelta(days=3), key="a").enqueue(email="a"), Enqueued[Receipt])
    assert_type(wait(welcome.enqueue(email="a")), Receipt)
    assert_type(welcome.new_job("a"), NewJob)
    assert_type(report.enqueue(days=3), Enqueued[list[str]])
    welcome.enqueue()  # wrong
    welcome.enqueue(emial="a")  # wrong
    welcome.enqueue(email=1)  # wrong
    welcome.options(delay=5)  # wrong
    welcome.options(dealy=timedelta())  # wrong
    welcome.options(delay=timedelta()).enqueue(emial="a")  # wrong
    welcome.options(delay=timedelta()).new_job(1)  # wrong
    report.enqueue(current)  # wrong
    report()  # wrong


async def run(current: Job, connection: psycopg.AsyncConnection[Any]) -> None:
    assert_type(await report(current, days=1), list[str])
    enqueued = await welcome.options(connection=connection).enqueue(email="a")
    assert_type(enqueued, Enqueued[Receipt])
    assert_type(await wait(enqueued, connection=connection), Receipt)
    await welcome.options(connection=connection).enqueue(emial="a")  # wrong
    await welcome.options(delay=timedelta()).enqueue(email="a")  # wrong
    welcome.options(connection=connection, delay=5)  # wrong
"""
WRONG = {number for number, line in enumerate(SAMPLE.splitlines(), 1) if line.endswith("# wrong")}


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    path = tmp_path / "sample.py"
    path.write_text(SAMPLE)
    return path


def lines_with_errors(*command: str) -> set[int]:
    checked = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return {int(line) for line in re.findall(r"sample\.py:(\d+)(?::\d+)? ?[:-] error", checked.stdout)}


def test_mypy_rejects_exactly_the_wrong_calls(sample: Path) -> None:
    assert lines_with_errors("mypy", "--strict", "--no-error-summary", str(sample)) == WRONG


@pytest.mark.programs
def test_pyright_rejects_exactly_the_wrong_calls(sample: Path, tmp_path: Path) -> None:
    pytest.importorskip("basedpyright")
    config = tmp_path / "pyrightconfig.json"
    config.write_text(f'{{"typeCheckingMode": "strict", "extraPaths": ["{ROOT / "shared"}"]}}')

    assert lines_with_errors("basedpyright", "-p", str(config), "--pythonpath", sys.executable) == WRONG
