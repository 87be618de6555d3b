"""Pytest fixtures for your tests; load them with `pytest_plugins = ["minutehand.testing"]`.

queue                   the enqueued jobs, with a worker that runs them: see JobQueue
minutehand_database     a Postgres database for this test; DATABASE_URL is set to its URL
invoker                 replaces Lambda and records the events

To be overridden in your conftest.py:

minutehand_handlers     functions by kind, or a HandlerPackage; by default the package `handlers`
minutehand_migrations   a function that takes a URL and creates your tables there, called once per run
minutehand_server       the URL of a server to use instead of one from the wheel: MINUTEHAND_TEST_DATABASE_URL
"""

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from uuid import uuid4

import pytest

from minutehand.database import Connection, Database, close_thread_databases
from minutehand.handlers import DEFAULT_PACKAGE, HandlerPackage
from minutehand.local.errors import NoPostgresError
from minutehand.settings.table import HANDLERS, TEST_DATABASE_URL
from minutehand.testing.attempts import AnyHandlers, Attempt, AttemptFailed, Drained, StillDue
from minutehand.testing.databases import Databases
from minutehand.testing.invoker import Invocation, RecordingInvoker, Refused
from minutehand.testing.job_queue import JobQueue
from minutehand.testing.serving import serving

__all__ = [
    "Attempt",
    "AttemptFailed",
    "Clone",
    "Drained",
    "Invocation",
    "JobQueue",
    "RecordingInvoker",
    "Refused",
    "StillDue",
]


@dataclass(frozen=True)
class Clone:
    """The database of a test; pass `database` to minutehand's functions. It has a separate connection."""

    url: str = field(repr=False)
    database: Database = field(repr=False)

    @property
    def connection(self) -> Connection:
        """An open psycopg connection, in autocommit."""
        return self.database.connection


@pytest.fixture(scope="session", autouse=True)
def minutehand_environment() -> Iterator[None]:
    """Unset the shell's database settings for the whole run, including threads that outlive their test."""
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name == "DATABASE_URL" or name.startswith("MINUTEHAND_DATABASE_"):
                patch.delenv(name)
        yield


@pytest.fixture(scope="session")
def minutehand_server() -> str | None:
    """Return the URL of a server on which the role may create databases; None starts one from the wheel."""
    return TEST_DATABASE_URL.read() or None


@pytest.fixture(scope="session")
def minutehand_migrations() -> Callable[[str], object]:
    """Create no tables besides minutehand's schema."""
    return lambda url: None


@pytest.fixture(scope="session")
def minutehand_databases(
    request: pytest.FixtureRequest,
    minutehand_environment: None,
    minutehand_server: str | None,
    minutehand_migrations: Callable[[str], object],
) -> Iterator[Databases]:
    """Provide the databases of the run to `minutehand_database`."""
    xdist = getattr(request.config, "workerinput", {})
    run = xdist.get("testrunuid") or uuid4().hex
    try:
        with serving(run, minutehand_server, minutehand_migrations) as databases:
            yield databases
    except NoPostgresError:
        pytest.fail(
            "no Postgres for the tests: pip install 'minutehand[testing]', or set "
            "MINUTEHAND_TEST_DATABASE_URL to the URL of a server",
            pytrace=False,
        )


@pytest.fixture
def minutehand_database(minutehand_databases: Databases, monkeypatch: pytest.MonkeyPatch) -> Iterator[Clone]:
    """Create a database with the schema and your tables for one test, and set DATABASE_URL to it."""
    with minutehand_databases.clone() as url, closing(Database(url)) as database:
        monkeypatch.setenv("DATABASE_URL", url)
        close_thread_databases()
        yield Clone(url, database)
        close_thread_databases()


@pytest.fixture
def minutehand_handlers() -> AnyHandlers:
    """Find decorated functions, and handlers in MINUTEHAND_HANDLERS and the package `handlers`, as a worker does."""
    return HandlerPackage([*HANDLERS.read(), DEFAULT_PACKAGE])


@pytest.fixture
def queue(minutehand_database: Clone, minutehand_handlers: AnyHandlers) -> JobQueue:
    """Return the queue in `minutehand_database`, with a worker that runs `minutehand_handlers`."""
    return JobQueue(minutehand_database.database, minutehand_handlers)


@pytest.fixture
def invoker() -> RecordingInvoker:
    """Replace Lambda and record the events."""
    return RecordingInvoker()
