"""Sessions of the database of a test, and a database with many jobs for the tests of plans."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from backlog import Stock, fill
from proving import Sessions

import minutehand
from minutehand.database import Connection, connect
from tests.servers import Database, Servers


@pytest.fixture(scope="module")
def full(servers: Servers, server_name: str) -> Iterator[tuple[Connection, Stock]]:
    """A full database for all tests of a file, which roll back their changes."""
    address = servers.address(server_name)
    database = address.make()
    with connect(database.admin_url) as connection:
        fill(connection, finished=100_000, due=20_000, scheduled=20_000)
        yield connection, Stock.of(connection)
    address.drop(database)


@pytest.fixture
def sessions(database: Database) -> Iterator[Sessions]:
    """A function that opens one more session."""
    with ExitStack() as opened:

        def another() -> minutehand.Database:
            session = minutehand.Database(database.url)
            opened.callback(session.close)
            return session

        yield another


@pytest.fixture
def db(sessions: Sessions) -> minutehand.Database:
    """One session."""
    return sessions()
