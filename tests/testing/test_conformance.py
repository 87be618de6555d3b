"""The conformance suite passes on every server, and fails on one that breaks the contract."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.servers import Database

SUITE = "minutehand.testing.conformance"
# Less than the limit of a test, so that what it printed is shown.
SECONDS = 550
SPOILT = """
import psycopg
import pytest

@pytest.fixture(scope="session")
def minutehand_migrations():
    def spoil(url):
        with psycopg.connect(url) as connection:
            connection.execute("create or replace function minutehand.state(job minutehand.jobs, at timestamptz "
                               "default now()) "
                               "returns text language sql as $$ select 'due' $$")
    return spoil
"""


def run(home: Path, server: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "minutehand.testing",
        *arguments,
        "--pyargs",
        SUITE,
    ]
    environment = {**os.environ, "MINUTEHAND_TEST_DATABASE_URL": server, "PYTHONPATH": str(home)}
    return subprocess.run(
        command, cwd=home, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
    )


@pytest.mark.every_version
def test_contract_holds(fresh_database: Database, tmp_path: Path) -> None:
    done = run(tmp_path, fresh_database.admin_url)

    assert done.returncode == 0, done.stdout
    assert "skipped" not in done.stdout and "passed" in done.stdout


def test_contract_violation_is_detected(new_database: Callable[..., Database], tmp_path: Path) -> None:
    (tmp_path / "spoil.py").write_text(SPOILT)

    done = run(
        tmp_path, new_database("direct-18").admin_url, "-p", "spoil", "-k", "key_does_not_replace_running_job"
    )

    assert done.returncode == 1, done.stdout
    assert "1 failed" in done.stdout
