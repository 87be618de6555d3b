"""What the tests of the flow share: the flow, at home in this process or in the emulator, on two servers."""

from collections.abc import Iterator

import pytest

from minutehand.database import ambient, thread_database
from tests.conftest import NewDatabase
from tests.flow.stage import Flow, emulated, in_process

HOMES = [f"{home} {server}" for home in ("in-process", "emulated") for server in ("direct-16", "direct-18")]


@pytest.fixture(params=HOMES)
def flow(
    request: pytest.FixtureRequest,
    new_database: NewDatabase,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Iterator[Flow]:
    """The flow in each home, on PostgreSQL 16 and 18."""
    home, server = request.param.split()
    database = new_database(server)
    made = emulated(database.url) if home == "emulated" else in_process(database, monkeypatch, capsys)
    with made as at:
        flow = Flow(database, at)
        yield flow
        flow.close()
    ambient().close()
    thread_database.cache_clear()
