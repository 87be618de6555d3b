"""Shared fixtures of the `sam local` tests: a container engine, a Postgres, the built project, and its servers.

They run with MINUTEHAND_TEST_SAM=<path of sam>, as `make test/containers` says; otherwise none of them is collected.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from minutehand import Database
from tests.ports import free_port
from tests.sam_local.engine import Engine
from tests.sam_local.image import Image
from tests.sam_local.sam import ROOT, Sam, copy_project, runtime_of

PROGRAM = os.environ.get("MINUTEHAND_TEST_SAM", "")
collect_ignore_glob = [] if PROGRAM else ["test_*.py"]

notes: list[str] = []


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the differences from Lambda."""
    for line in notes:
        terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def machine() -> Iterator[dict[str, str]]:
    """The addresses of the engine, the image and the Postgres, which end with this process."""
    home = Path(tempfile.mkdtemp(prefix="minutehand-sam-")).resolve()
    home.chmod(0o755)
    runtime = runtime_of((ROOT / "template.yaml").read_text("utf-8"))
    command = [sys.executable, "-m", "tests.sam_local.keeper", str(home), runtime]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as keeper:
        assert keeper.stdin is not None
        assert keeper.stdout is not None
        facts = json.loads(keeper.stdout.readline() or '{"lacks": "the keeper of the engine failed"}')
        if "lacks" in facts:
            pytest.exit(facts["lacks"], returncode=1)
        if facts["image"]:
            notes.append(
                f"Lambda's image of {runtime} cannot be pulled: ran in a stand-in with {facts['runtime']}."
            )
        yield {**facts, "home": str(home)}
        keeper.stdin.close()


@pytest.fixture(scope="session")
def lambda_port(machine: dict[str, str]) -> int:
    """The port of `sam local start-lambda`."""
    return free_port(machine["gateway"])


@pytest.fixture(scope="session")
def sam(machine: dict[str, str], lambda_port: int) -> Sam:
    """The built project."""
    engine = Engine(machine["docker"], machine["gateway"], bool(machine["own"]))
    project = Path(machine["home"]) / "project"
    copy_project(project, machine["runtime"], machine["database"], lambda_port)
    sam = Sam(project, Path(PROGRAM).absolute(), engine, Image(machine["image"], machine["runtime"]))
    sam.run("build")
    return sam


@pytest.fixture
def jobs(machine: dict[str, str]) -> Iterator[Database]:
    """The database of the functions, without jobs."""
    with psycopg.connect(machine["database"], autocommit=True) as connection:
        connection.execute("delete from minutehand.jobs")
    database = Database(machine["database"])
    yield database
    database.close()


@pytest.fixture(scope="session")
def start_lambda(sam: Sam, lambda_port: int) -> Iterator[str]:
    """`sam local start-lambda`, on an address that containers can reach."""
    with sam.serving("start-lambda", sam.engine.gateway, lambda_port) as url:
        yield url


@pytest.fixture(scope="session")
def start_api(sam: Sam) -> Iterator[str]:
    """`sam local start-api`."""
    with sam.serving("start-api", "127.0.0.1", free_port("127.0.0.1")) as url:
        yield url
