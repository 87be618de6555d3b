"""Fixtures for the tests of those who use minutehand; load them with `pytest_plugins = ["minutehand.testing"]`.

queue                   what is enqueued, and a worker that works it off: see JobQueue
minutehand_database     this test's own Postgres database, which DATABASE_URL names for as long
invoker                 stands where Lambda does, and keeps the events

and, to be overridden in your conftest.py:

minutehand_handlers     functions by kind, or a HandlerPackage; the package `handlers` unless you say otherwise
minutehand_migrations   a function that makes your own tables at the URL that it is given, once a run
minutehand_server       the URL of a server to use instead of one from the wheel: MINUTEHAND_TEST_DATABASE_URL
"""

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from uuid import uuid4

import pytest

from minutehand.database import Connection, Database, close_thread_databases
from minutehand.handlers import HandlerPackage
from minutehand.local.errors import NoPostgresError
from minutehand.settings.table import TEST_DATABASE_URL
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
    """A test's own database; `database` is what minutehand's functions take, with a connection of its own."""

    url: str = field(repr=False)
    database: Database = field(repr=False)

    @property
    def connection(self) -> Connection:
        """An open psycopg connection, in autocommit."""
        return self.database.connection


@pytest.fixture(scope="session", autouse=True)
def minutehand_environment() -> Iterator[None]:
    """Forget what the shell says of another database, for all of the run and for threads that outlive their test."""
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name == "DATABASE_URL" or name.startswith("MINUTEHAND_DATABASE_"):
                patch.delenv(name)
        yield


@pytest.fixture(scope="session")
def minutehand_server() -> str | None:
    """Name a server whose role may make databases, by its URL; None starts one from the wheel."""
    return TEST_DATABASE_URL.read() or None


@pytest.fixture(scope="session")
def minutehand_migrations() -> Callable[[str], object]:
    """Make nothing beside minutehand's own schema."""
    return lambda url: None


@pytest.fixture(scope="session")
def minutehand_databases(
    request: pytest.FixtureRequest,
    minutehand_environment: None,
    minutehand_server: str | None,
    minutehand_migrations: Callable[[str], object],
) -> Iterator[Databases]:
    """Keep the run's databases, for the fixture below."""
    run = getattr(request.config, "workerinput", {}).get("testrunuid") or uuid4().hex  # of xdist
    try:
        with serving(run, minutehand_server, minutehand_migrations) as databases:
            yield databases
    except NoPostgresError:
        pytest.fail(
            "no Postgres for the tests: pip install 'minutehand[testing]', or name a server in "
            "MINUTEHAND_TEST_DATABASE_URL",
            pytrace=False,
        )


@pytest.fixture
def minutehand_database(minutehand_databases: Databases, monkeypatch: pytest.MonkeyPatch) -> Iterator[Clone]:
    """Make a database with the schema and your tables for one test; DATABASE_URL names it meanwhile."""
    with minutehand_databases.clone() as url, closing(Database(url)) as database:
        monkeypatch.setenv("DATABASE_URL", url)
        close_thread_databases()
        yield Clone(url, database)
        close_thread_databases()


@pytest.fixture
def minutehand_handlers() -> AnyHandlers:
    """Find the handlers in the package `handlers`, as a worker does."""
    return HandlerPackage("handlers")


@pytest.fixture
def queue(minutehand_database: Clone, minutehand_handlers: AnyHandlers) -> JobQueue:
    """Look at the queue in `minutehand_database`, worked off by `minutehand_handlers`."""
    return JobQueue(minutehand_database.database, minutehand_handlers)


@pytest.fixture
def invoker() -> RecordingInvoker:
    """Stand where Lambda does, and keep the events."""
    return RecordingInvoker()
