"""The wheels work in new environments of each supported Python, outside of the repository."""

import json
import sys
from pathlib import Path

import pytest

from minutehand.functions.api import console_files
from tests.distributions.building import PROJECTS, build
from tests.distributions.environments import PYTHONS, REQUIRED, Environment, create, find
from tests.servers import Database, Servers

pytestmark = pytest.mark.install

HANDLER = """
def handle(payload):
    return f"Hello {payload['name']}"
"""
USER_TEST = """
from minutehand import enqueue

def test_welcome(queue):
    enqueue("welcome", {"name": "Ada"})
    (finished,) = queue.drain()
    assert finished.ending == "done"
"""
# Call the API as API Gateway does.
GET = """
import json, sys
from minutehand.local.environment import Context
from minutehand.functions.api.app import handler
for path in sys.argv[1:]:
    event = {
        "version": "2.0", "rawPath": path, "rawQueryString": "", "headers": {"host": "localhost"},
        "requestContext": {"http": {"method": "GET", "path": path, "sourceIp": "127.0.0.1"}, "stage": "$default"},
        "isBase64Encoded": False,
    }
    print(handler(event, Context("api", 30.0))["statusCode"])
"""
BASE = {
    "cronsim",
    "isodate",
    "minutehand",
    "msgspec",
    "pip",
    "psycopg",
    "psycopg-binary",
    "setuptools",
    "typing_extensions",
    "tzdata",
}


@pytest.fixture(scope="module", params=PYTHONS)
def installed(
    request: pytest.FixtureRequest, wheel: Path, tmp_path_factory: pytest.TempPathFactory
) -> Environment:
    """An environment with the wheel and the extras for local runs and tests."""
    if (python := find(request.param)) is None:
        report = pytest.fail if request.param in REQUIRED else pytest.skip
        report(f"Python {request.param} is not installed")
    environment = create(python, tmp_path_factory.mktemp("installed") / "venv")
    environment.install(f"minutehand[local,testing] @ {wheel.as_uri()}")
    return environment


def test_base_install_has_few_packages(wheel: Path, tmp_path: Path) -> None:
    environment = create(sys.executable, tmp_path / "venv")
    environment.install(str(wheel))
    listed = json.loads(environment.run("python", "-m", "pip", "list", "--format", "json", cwd=tmp_path))

    assert {package["name"] for package in listed} <= BASE
    environment.run("python", "-c", "from minutehand.stack import folder; folder()", cwd=tmp_path)


def test_command_line_and_stack_are_installed(installed: Environment, tmp_path: Path) -> None:
    stack = Path(
        installed.run(
            "python", "-c", "from minutehand.stack import folder; print(folder())", cwd=tmp_path
        ).strip()
    )

    assert stack == installed.packages / "minutehand" / "stack"
    assert "minutehand 0.1.0" in installed.run("minutehand", "--version", cwd=tmp_path)
    assert "enqueue" in installed.run("minutehand", "--help", cwd=tmp_path)
    installed.run("python", "-c", "from minutehand.functions.worker import handler", cwd=tmp_path)


def test_enqueued_job_is_done_by_a_handler_file(
    installed: Environment, empty_database: Database, tmp_path: Path
) -> None:
    (tmp_path / "handlers").mkdir()
    (tmp_path / "handlers" / "welcome.py").write_text(HANDLER)

    def minutehand(*words: str) -> str:
        return installed.run("minutehand", *words, cwd=tmp_path, DATABASE_URL=empty_database.url)

    minutehand("migrate")
    minutehand("enqueue", "welcome", '{"name": "Ada"}')
    minutehand("work", "--drain", "--handlers", "handlers")
    (line,) = minutehand("ls", "--state", "done", "-o", "json").splitlines()

    assert json.loads(line)["kind"] == "welcome"


def test_api_serves_the_console(installed: Environment, tmp_path: Path) -> None:
    static = f"/console/static/{console_files.version()}"
    paths = ("/console/jobs", f"{static}/app/main.js", f"{static}/styles.css")
    output = installed.run("python", "-c", GET, *paths, cwd=tmp_path, MINUTEHAND_CONSOLE="1")

    # The other lines are the function's log.
    assert [line for line in output.splitlines() if not line.startswith("{")] == ["200", "200", "200"]


def test_pytest_fixtures_are_available(installed: Environment, servers: Servers, tmp_path: Path) -> None:
    (tmp_path / "handlers").mkdir()
    (tmp_path / "handlers" / "welcome.py").write_text(HANDLER)
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["minutehand.testing"]\n')
    (tmp_path / "test_welcome.py").write_text(USER_TEST)
    server = servers.address("direct-18").admin_url
    output = installed.run("python", "-m", "pytest", "-q", cwd=tmp_path, MINUTEHAND_TEST_DATABASE_URL=server)

    assert "1 passed" in output


def test_pipeline_wheel_adds_its_commands(installed: Environment, tmp_path: Path) -> None:
    """Without its dependencies, most of which are large: its commands import them when they run."""
    installed.install("--no-deps", str(build(PROJECTS[1], tmp_path)))

    assert "archive" in installed.run("minutehand", "pipeline", "--help", cwd=tmp_path)
    installed.run("python", "-c", "import minutehand_pipeline.cli.archive", cwd=tmp_path)
