"""Sessions of the database of a test."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from proving import Sessions

import minutehand
from tests.servers import Database


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
