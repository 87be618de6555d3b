"""Fixtures of all tests: a clean environment, and a migrated database on a real server.

database            without jobs, on the server of the run: direct-18, or the one that --server names
direct_database     the same on direct-18, whatever --server names
fresh_database      a copy that no other test uses, on the server of the run; for tests of what a reset cannot undo
empty_database      on direct-18, with nothing in it, not even the schema
connection          to `database`, opened as the library opens it
new_database        makes more copies, on any server

`database` is one database for all tests of the process. After each test its rows are deleted and its sessions end,
except those that the next test takes over (tests/sessions.py). If its schema is another one then, the next test has a
new copy.

A test runs once, on the server of the run. Those marked `every_server` also run on the other ones, with
`make test/servers`; those marked `every_version` not through a pooler.
"""

import faulthandler
import gc
import os
import signal
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from importlib.util import find_spec
from random import Random
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, settings

from minutehand.database import close_thread_databases
from minutehand.events.sinks import deliveries
from tests.servers import DIRECT, POOLS, REQUIRED, Database, Servers
from tests.sessions import SESSIONS, Sessions
from tests.thorough import THOROUGH

NewDatabase = Callable[..., Database]

# Paths whose tests all belong to a suite. Other tests have a marker.
SUITES = {
    "tests/cluster/": "cluster",
    "tests/console/": "console",
    "tests/sam_local/": "containers",
    "tests/walk/": "project",
    "tests/bench/test_programs": "programs",
    "tests/local/": "programs",
    "tests/pipeline/": "pipeline",
    "tests/testing/": "programs",
    "tests/unit/test_embedded_postgres": "programs",
    "tests/pipeline/archive/test_killed.py": "kill",
    "tests/pipeline/load/test_killed.py": "kill",
}

# `make setup` does not install Spark. If Spark is mandatory, these tests are collected and fail without it.
collect_ignore = [] if find_spec("pyspark") or "spark" in REQUIRED else ["pipeline", "cluster"]

# The default settings of tests with generated examples. A busy machine must not fail them, and each `make test` has the
# same examples; those of `make test/thorough` are random.
settings.register_profile(
    "tests", derandomize=not THOROUGH, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("tests")

# Otherwise each program that a test starts compiles the library again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Background jobs of a shell ignore Ctrl-C, and the processes of the tests would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options --server and --shuffle."""
    parser.addoption("--server", default="direct-18", choices=[*DIRECT, *POOLS], help="what `database` is on")
    parser.addoption("--shuffle", type=int, metavar="SEED", help="run the tests in a random order")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark tests that need a server, and the suites that consist of a directory or file."""
    if (seed := config.getoption("shuffle")) is not None:
        Random(seed).shuffle(items)
    for item in items:
        if "servers" in getattr(item, "fixturenames", ()):
            item.add_marker("data")
        for place, suite in SUITES.items():
            if item.nodeid.startswith(place):
                item.add_marker(suite)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Find the tests without collecting garbage, which takes a seventh of the time; their objects all stay."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Limit the time of the teardown too: pytest lifts its limit when a test fails."""
    if limit := float(item.config.getini("faulthandler_timeout")):
        faulthandler.dump_traceback_later(limit, exit=True, file=2)


@pytest.fixture(scope="session")
def servers() -> Iterator[Servers]:
    """The servers of this process. Each starts on first use."""
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


@pytest.fixture(scope="session")
def server_name(request: pytest.FixtureRequest) -> str:
    """The server of the run."""
    return str(request.config.getoption("server"))


@pytest.fixture
def sessions() -> Sessions:
    """The sessions that stay open between the tests that request them."""
    return SESSIONS


@pytest.fixture
def no_sessions(request: pytest.FixtureRequest) -> None:
    """Close the sessions of earlier tests, unless this test requests them."""
    if "sessions" not in request.fixturenames:
        SESSIONS.close()


@pytest.fixture
def database(servers: Servers, server_name: str, no_sessions: None) -> Iterator[Database]:
    """A migrated database without jobs on the server of the run."""
    with servers.address(server_name).clean() as database:
        yield database
        close_thread_databases()


@pytest.fixture
def direct_database(servers: Servers, no_sessions: None) -> Iterator[Database]:
    """A migrated database without jobs on direct-18, for tests that do not depend on the server."""
    with servers.address("direct-18").clean() as database:
        yield database
        close_thread_databases()


@pytest.fixture
def fresh_database(new_database: NewDatabase, server_name: str) -> Database:
    """A copy of the template on the server of the run, which no other test uses."""
    return new_database(server_name)


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
    """Hide the developer's settings and AWS account from the tests; close their sessions, and forget their sinks."""
    for name in list(os.environ):
        if name.startswith(("MINUTEHAND_", "AWS_", "POWERTOOLS_", "PG")) or name == "DATABASE_URL":
            monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", os.devnull)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    yield
    close_thread_databases()
    # A sink that failed rests for a minute.
    deliveries.cache_clear()
