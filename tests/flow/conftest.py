"""The whole flow, in this process or in the emulator."""

from collections.abc import Iterator

import pytest

from minutehand.database import default_database, thread_database
from tests.flow.stage import Flow, emulated, in_process
from tests.servers import Database


@pytest.fixture(params=["in-process", "emulated"])
def flow(
    request: pytest.FixtureRequest,
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Iterator[Flow]:
    """The flow in each place."""
    made = (
        emulated(database.url) if request.param == "emulated" else in_process(database, monkeypatch, capsys)
    )
    with made as at:
        flow = Flow(database, at)
        yield flow
        flow.close()
    default_database().close()
    thread_database.cache_clear()
