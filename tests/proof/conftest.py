"""What the proofs are given: sessions at the database of the test."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from proving import Sessions

import minutehand
from tests.servers import Database


@pytest.fixture
def sessions(database: Database) -> Iterator[Sessions]:
    """Open one more session at the database, as often as wanted."""
    with ExitStack() as opened:

        def another() -> minutehand.Database:
            session = minutehand.Database(database.url)
            opened.callback(session.close)
            return session

        yield another


@pytest.fixture
def db(sessions: Sessions) -> minutehand.Database:
    """A session at the database."""
    return sessions()
