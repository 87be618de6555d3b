"""Shared fixtures of the API tests: the application as Lambda loads it, a client with a token, and the log."""

from collections.abc import Callable, Iterator
from io import StringIO
from types import ModuleType
from typing import Any
from warnings import catch_warnings

import pytest

from minutehand import Database, enqueue
from minutehand.claimed_job import Job
from minutehand.functions.api import app as api_module
from minutehand.functions.api.dependencies import connect
from tests.api.stage import TOKEN, claim_one, finish
from tests.servers import Database as Server
from tests.sessions import Sessions

with catch_warnings(action="ignore"):  # a deprecation warning about httpx
    from starlette.testclient import TestClient


@pytest.fixture(scope="session")
def function() -> ModuleType:
    """Load the module with the application and the handler."""
    return api_module


@pytest.fixture
def log(function: ModuleType) -> StringIO:
    """The log of the function."""
    stream = StringIO()
    function.logger.registered_handler.setStream(stream)
    return stream


@pytest.fixture
def on_database(function: ModuleType, log: StringIO) -> Iterator[Callable[..., Database]]:
    """Make the function use a database; its session is a new one, or that of `database`."""
    opened: list[Database] = []

    def use(server: Server, database: Database | None = None) -> Database:
        database = database or Database(server.url)
        opened.append(database)
        function.app.dependency_overrides[connect] = lambda: database
        return database

    yield use
    function.app.dependency_overrides.clear()
    for database in opened:
        database.close()


@pytest.fixture
def jobs(database: Server, on_database: Callable[..., Database], sessions: Sessions) -> Iterator[Database]:
    """The database that the function uses."""
    jobs = on_database(database, sessions.open(database.url))
    yield jobs
    sessions.keep(jobs, database.url)


@pytest.fixture
def token(monkeypatch: pytest.MonkeyPatch) -> str:
    """The only valid token."""
    monkeypatch.setenv("MINUTEHAND_API_TOKENS", TOKEN)
    return TOKEN


@pytest.fixture
def api(function: ModuleType, jobs: Database, token: str) -> TestClient:
    """A client with a token."""
    return TestClient(function.app, headers={"Authorization": f"Bearer {token}"})


@pytest.fixture
def running(jobs: Database) -> Job:
    """A job that a worker has claimed."""
    enqueue("echo", key="running", connection=jobs)
    return claim_one(jobs)


@pytest.fixture
def dead(jobs: Database) -> Job:
    """A dead job."""
    enqueue("echo", {"secret": "payload"}, key="dead", headers={"secret": "header"}, connection=jobs)
    job = claim_one(jobs)
    finish(job, error={"type": "ValueError", "message": "no", "trace": "the secret trace"})
    return job


@pytest.fixture
def problem() -> Callable[..., dict[str, Any]]:
    """Check that a response is a problem with a status, and return the problem."""

    def check(response: Any, status: int) -> dict[str, Any]:
        body: dict[str, Any] = response.json()
        assert (response.status_code, response.headers["content-type"]) == (
            status,
            "application/problem+json",
        )
        assert body["status"] == status
        assert all(isinstance(body[name], str) and body[name] for name in ("type", "title", "detail"))
        return body

    return check
