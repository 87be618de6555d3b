"""Connections after a freeze or a database pause: detected within seconds, reopened, and no job is lost."""

import sys
from threading import Timer

import pytest

import minutehand.database.liveness
from minutehand import Database, enqueue
from minutehand.errors import UnreachableError
from minutehand.queries.jobs import stats
from tests import servers
from tests.connections.silence import Gate

linux = pytest.mark.skipif(sys.platform != "linux", reason="it takes Linux to drop packets without rights")


@linux
def test_dropped_connection_is_replaced_before_the_next_statement(
    direct_database: servers.Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Gate(direct_database.url) as gate:
        db = Database(gate.url)
        enqueue("echo", connection=db)
        monkeypatch.setattr(minutehand.database.liveness, "IDLE_SECONDS", 0)
        gate.swallow()

        assert enqueue("echo", connection=db).outcome == "created"
        assert gate.accepted == 2
        assert sum(depth.jobs for depth in stats(db)) == 2
        db.close()


@linux
def test_statement_on_a_dropped_connection_fails_within_seconds(
    direct_database: servers.Database,
) -> None:
    with Gate(direct_database.url) as gate:
        db = Database(gate.url)
        enqueue("echo", connection=db)
        gate.swallow()

        with pytest.raises(UnreachableError, match="cannot be reached"):
            enqueue("echo", connection=db)
        assert enqueue("echo", connection=db).outcome == "created"
        assert sum(depth.jobs for depth in stats(db)) == 2
        db.close()


def test_silent_server_is_abandoned(
    direct_database: servers.Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Gate(direct_database.url) as gate:
        db = Database(gate.url)
        enqueue("echo", connection=db)
        monkeypatch.setattr(minutehand.database.liveness, "IDLE_SECONDS", 0)
        gate.deafen()

        assert enqueue("echo", connection=db).outcome == "created"
        assert gate.accepted == 2
        db.close()


def test_resuming_database_is_waited_for(
    direct_database: servers.Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MINUTEHAND_CONNECT_TIMEOUT", "30")
    with Gate(direct_database.url, asleep=True) as gate:
        db = Database(gate.url)
        resuming = Timer(2, gate.wake)
        resuming.start()

        assert enqueue("echo", connection=db).outcome == "created"
        assert gate.accepted == 1
        db.close()


def test_slow_database_is_available_at_the_next_call(
    direct_database: servers.Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MINUTEHAND_CONNECT_TIMEOUT", "2")
    with Gate(direct_database.url, asleep=True) as gate:
        db = Database(gate.url)
        with pytest.raises(
            UnreachableError, match="a paused one takes longer than MINUTEHAND_CONNECT_TIMEOUT to resume"
        ):
            enqueue("echo", connection=db)
        monkeypatch.setenv("MINUTEHAND_CONNECT_TIMEOUT", "60")
        gate.wake()

        assert enqueue("echo", connection=db).outcome == "created"
        assert sum(depth.jobs for depth in stats(db)) == 1
        db.close()
