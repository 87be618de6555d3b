"""Fixtures of the tests of mode sleep."""

from collections.abc import Iterator
from contextlib import closing

import psycopg
import pytest

from minutehand import Database
from minutehand.schema.migrate import migrate
from minutehand.testing.databases import SEARCH_PATH, database_name
from minutehand.testing.statements import run
from tests.servers import Database as Address
from tests.sleep.event_bridge import EventBridge


@pytest.fixture
def event_bridge(monkeypatch: pytest.MonkeyPatch) -> Iterator[EventBridge]:
    """EventBridge Scheduler, and the settings of mode sleep."""
    with EventBridge(monkeypatch) as event_bridge:
        yield event_bridge


@pytest.fixture
def url_with_clock(empty_database: Address) -> str:
    """A migrated database whose clock a test can move."""
    with psycopg.connect(empty_database.admin_url, autocommit=True) as connection:
        name = database_name(empty_database.admin_url)
        connection.execute(f"alter database {name} set search_path = {SEARCH_PATH}".encode())
    with closing(Database(empty_database.url)) as database:
        run(database, "clock")
        migrate(database)
        run(database, "clock_for_functions")
    return empty_database.url
