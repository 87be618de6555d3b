"""Nothing is prepared through a transaction pooler, and a pooler that is not recognized loses no statement."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from wire import Wire

from minutehand import Database, enqueue
from minutehand.database import preparing
from minutehand.database.preparing import PROCESS, USES
from minutehand.database.tls import is_rds_proxy
from minutehand.queries.jobs import stats
from tests import servers
from tests.conftest import NewDatabase

# Not of a session that is about to end.
PROCESS_ID = """select pid from pg_stat_activity
                 where datname = current_database() and pid <> pg_backend_pid() and state = 'idle in transaction'"""


@pytest.fixture
def pooled(new_database: NewDatabase) -> servers.Database:
    return new_database("pgbouncer-18")


@pytest.fixture(autouse=True)
def long_period(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no period end during a test."""
    monkeypatch.setattr(preparing, "FRESH_SECONDS", 3600)


def enqueue_often(db: Database) -> None:
    for n in range(3 * USES):
        assert enqueue("echo", n, connection=db).outcome == "created"


def named(wire: Wire) -> list[str]:
    return [each.name for each in wire.statements if each.name]


def test_pgbouncer_receives_no_prepared_statement(pooled: servers.Database) -> None:
    with Wire(pooled.url) as wire:
        db = Database(wire.url)
        enqueue_often(db)
        db.close()

    assert named(wire) == []
    assert [each.text for each in wire.statements].count(PROCESS) == 1


@pytest.fixture
def mistaken(pooled: servers.Database) -> Iterator[Wire]:
    """A pooler that announces the process id of its first server connection."""
    with psycopg.connect(pooled.url) as first, psycopg.connect(pooled.admin_url) as admin:
        first.execute("select 1")
        (process,) = admin.execute(PROCESS_ID).fetchone() or (0,)
    with Wire(pooled.url, process) as wire:
        yield wire


def test_pooler_with_an_equal_process_id_loses_no_job(mistaken: Wire, pooled: servers.Database) -> None:
    db = Database(mistaken.url)
    enqueue_often(db)
    assert named(mistaken)
    with psycopg.connect(pooled.url) as other:
        # The pooler has to use another server connection, which does not have the prepared statement.
        other.execute("select 1")
        enqueue_often(db)

    assert stats(db)[0].jobs == 6 * USES
    db.close()


def test_name_of_another_client_loses_no_job(mistaken: Wire, pooled: servers.Database) -> None:
    with psycopg.connect(pooled.url, autocommit=True) as other:
        other.execute("prepare minutehand_0 as select 1")
    db = Database(mistaken.url)
    enqueue_often(db)

    assert stats(db)[0].jobs == 3 * USES
    db.close()


def test_always_prepares_without_comparing(pooled: servers.Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINUTEHAND_PREPARE", "always")
    with Wire(pooled.url) as wire:
        db = Database(wire.url)
        enqueue_often(db)
        db.close()

    assert named(wire)
    assert PROCESS not in [each.text for each in wire.statements]


@pytest.mark.parametrize(
    ("host", "proxy"),
    [
        ("jobs.proxy-abc123.eu-central-1.rds.amazonaws.com", True),
        ("jobs.abc123.eu-central-1.rds.amazonaws.com", False),
        ("proxy-abc.example.com", False),
    ],
)
def test_rds_proxy_is_recognized_by_its_host(host: str, proxy: Any) -> None:
    assert is_rds_proxy(host) is proxy
