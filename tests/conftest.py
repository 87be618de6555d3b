"""What every test may use: a clean environment, and a migrated database of its own on a real server.

database            one after the other: direct-18, pgbouncer-18, direct-15
direct_database     direct-18 only
empty_database      direct-18, and nothing in it, not even the schema
connection          to `database`, opened as the library opens it
new_database        makes more, on any of the addresses and on direct-16
"""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from importlib.util import find_spec
from typing import Any

import psycopg
import pytest

from minutehand.database import close_thread_databases
from tests.servers import REQUIRED, Database, Servers

NewDatabase = Callable[..., Database]

# `make setup` installs no Spark; where it must not be missing, these say so by failing.
collect_ignore = [] if find_spec("pyspark") or "spark" in REQUIRED else ["pipeline", "cluster"]

# A shell that runs the tests in the background has Ctrl-C ignored, and what they start would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs a server."""
    for item in items:
        if "servers" in getattr(item, "fixturenames", ()):
            item.add_marker("data")


@pytest.fixture(scope="session")
def servers() -> Iterator[Servers]:
    """The servers of this process, none of which runs before it is needed."""
    servers = Servers()
    yield servers
    servers.close()


@pytest.fixture
def new_database(servers: Servers) -> Iterator[NewDatabase]:
    """Make databases that are dropped after the test: `new_database(address, migrated=True)`."""
    with ExitStack() as made:

        def make(address: str = "direct-18", *, migrated: bool = True) -> Database:
            server = servers.address(address)
            database = server.make(migrated=migrated)
            made.callback(server.drop, database)
            return database

        yield make


@pytest.fixture(params=["direct-18", "pgbouncer-18", "direct-15"])
def database(request: pytest.FixtureRequest, new_database: NewDatabase) -> Database:
    """A migrated database on every server that counts, directly and through a pooler."""
    return new_database(request.param)


@pytest.fixture
def direct_database(new_database: NewDatabase) -> Database:
    """A migrated database on one server, for what no server does differently."""
    return new_database()


@pytest.fixture
def empty_database(new_database: NewDatabase) -> Database:
    """A database without the schema."""
    return new_database(migrated=False)


@pytest.fixture
def connection(database: Database) -> Iterator[psycopg.Connection[Any]]:
    """A connection to `database`, closed after the test."""
    from minutehand.database import connect

    with connect(database.url) as connection:
        yield connection


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing that the developer's shell says reaches a test, no test reaches an account, and none leaves a session."""
    for name in list(os.environ):
        if name.startswith(("MINUTEHAND_", "AWS_", "POWERTOOLS_", "PG")) or name == "DATABASE_URL":
            monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", os.devnull)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    yield
    close_thread_databases()
