"""Statements that run often are prepared on our own direct connections, and run again if that fails."""

from datetime import timedelta
from itertools import compress, product
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from backlog_values import JOB_OPTIONS
from proving import GRACE, LEASE
from wire import Wire

from minutehand import AsyncDatabase, Database, enqueue
from minutehand.claim import take
from minutehand.database import preparing
from minutehand.database.liveness import has_pending_input
from minutehand.database.preparing import MOST, USES
from minutehand.database.statements import statement
from minutehand.errors import MinutehandError
from minutehand.finish import finish
from minutehand.model.outcome import Done
from tests import servers
from tests.event_loop import run_in_loop
from tests.waiting import until

COUNT = "select count(*) from pg_prepared_statements"
NAME = "select name from pg_prepared_statements where statement like '%%cancelling%%'"


@pytest.fixture(autouse=True)
def long_period(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no period end during a test."""
    monkeypatch.setattr(preparing, "FRESH_SECONDS", 3600)


@pytest.fixture
def wire(direct_database: servers.Database) -> Any:
    with Wire(direct_database.url) as wire:
        yield wire


@pytest.fixture
def db(wire: Wire) -> Any:
    database = Database(wire.url)
    yield database
    database.close()


def named(wire: Wire) -> list[str]:
    """Return the first lines of the statements that were prepared."""
    return [each.text.partition("\n")[0] for each in wire.statements if each.name]


def enqueue_often(connection: Any, times: int = 3 * USES) -> None:
    for n in range(times):
        assert enqueue("echo", n, connection=connection).outcome == "created"


def begin_period(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """End the period of the prepared statements, and use `enqueue` until it is prepared again."""
    monkeypatch.setattr(preparing, "FRESH_SECONDS", 0)
    enqueue("echo", connection=db)
    monkeypatch.setattr(preparing, "FRESH_SECONDS", 3600)
    enqueue_often(db)


def test_hot_statements_are_prepared_once(db: Database, wire: Wire) -> None:
    for n in range(3 * USES):
        enqueue("echo", n, connection=db)
        (job,) = take(db, "default", 1, LEASE, GRACE)
        assert finish(job, Done()).ending == "done"

    hot = ("enqueue_plain", "take", "finish_done")
    assert sorted(named(wire)) == sorted(statement(name).partition("\n")[0] for name in hot)


def test_cold_start_sends_only_the_statement(db: Database, wire: Wire) -> None:
    enqueue_often(db, USES)

    assert len(wire.statements) == USES
    assert named(wire) == []


def test_statements_in_a_transaction_are_not_prepared(db: Database, wire: Wire) -> None:
    with db.transaction():
        enqueue_often(db)

    assert named(wire) == []


def test_statements_of_handlers_are_not_prepared(db: Database, wire: Wire) -> None:
    enqueue_often(db)
    before = len(named(wire))
    for _ in range(3 * USES):
        db.connection.execute("select %s::integer", [1], prepare=True)

    assert len(named(wire)) == before


def test_caller_decides_about_a_borrowed_connection(wire: Wire) -> None:
    with psycopg.connect(wire.url, autocommit=True, prepare_threshold=None) as never:
        enqueue_often(never)
        assert (named(wire), never.prepare_threshold) == ([], None)
    with psycopg.connect(wire.url, autocommit=True, prepare_threshold=2) as soon:
        enqueue_often(soon)
        assert (len(named(wire)), soon.prepare_threshold) == (1, 2)


def test_never_prevents_preparing(db: Database, wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINUTEHAND_PREPARE", "never")
    enqueue_often(db)

    assert named(wire) == []


def test_new_connection_prepares_again(db: Database, wire: Wire) -> None:
    enqueue_often(db)
    lost = db.connection
    wire.cut()
    until(lambda: has_pending_input(lost))
    enqueue_often(db)

    assert len(named(wire)) == 2


def test_statement_of_a_killed_session_is_prepared_in_the_next_one(
    db: Database, wire: Wire, direct_database: servers.Database
) -> None:
    enqueue_often(db)
    lost = db.connection
    with psycopg.connect(direct_database.admin_url, autocommit=True) as admin:
        admin.execute("select pg_terminate_backend(%s, 30000)", [lost.info.backend_pid])
    # The proxy passes the end on.
    until(lambda: has_pending_input(lost))
    enqueue_often(db)

    assert len(named(wire)) == 2


def test_statement_that_a_value_fails_stays_prepared(db: Database, wire: Wire) -> None:
    enqueue_often(db)
    wrong = dict.fromkeys(JOB_OPTIONS) | {"kind": "not a kind", "payload": "1"}
    with pytest.raises(MinutehandError):
        db.run("enqueue_plain", **wrong)
    enqueue_often(db)
    sent = len(wire.statements)
    enqueue_often(db)

    assert len(wire.statements) == sent


@pytest.mark.parametrize("text", ["discard all", "deallocate all"])
def test_statement_that_was_dropped_runs_anyway(
    db: Database, wire: Wire, monkeypatch: pytest.MonkeyPatch, text: Any
) -> None:
    enqueue_often(db)
    db.connection.execute(text)
    enqueue_often(db)
    assert len(named(wire)) == 1

    begin_period(db, monkeypatch)
    assert len(named(wire)) == 2


def test_changed_column_type_is_invisible_to_a_worker(fresh_database: servers.Database) -> None:
    db = Database(fresh_database.url)
    enqueue_often(db, 2 * USES + 1)
    for _ in range(2 * USES):
        assert take(db, "default", 1, LEASE, GRACE)
    with psycopg.connect(fresh_database.admin_url, autocommit=True) as admin:
        admin.execute("alter table minutehand.jobs alter column zone type text")

    assert take(db, "default", 1, LEASE, GRACE)
    db.close()


def test_plan_for_an_empty_table_is_discarded(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    db.connection.execute("vacuum analyze minutehand.jobs_live")
    for _ in range(3 * USES):
        db.run("check_claim", id=uuid4(), ack=uuid4())
    db.connection.execute(
        "insert into minutehand.jobs_live (kind) select 'echo' from generate_series(1, 10000)"
    )
    assert "Seq Scan on jobs_live" in plan_of_check(db)

    begin_period(db, monkeypatch)
    for _ in range(3 * USES):
        db.run("check_claim", id=uuid4(), ack=uuid4())
    assert "Seq Scan on jobs_live" not in plan_of_check(db)


def test_new_period_prepares_again(db: Database, wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the server would compare the plan with executions on a smaller table, and plan each time."""
    enqueue_often(db)
    begin_period(db, monkeypatch)

    assert len(named(wire)) == 2
    assert db.connection.execute(COUNT).fetchone() == (1,)


def plan_of_check(db: Database) -> str:
    (name,) = db.connection.execute(NAME).fetchone() or ("",)
    text = f"explain execute {name}('{uuid4()}', '{uuid4()}')"
    return "\n".join(row[0] for row in db.connection.execute(text))  # type: ignore[call-overload]


def test_number_of_prepared_statements_is_bounded(db: Database) -> None:
    hour = timedelta(hours=1)
    options = {
        "priority": 1,
        "max_attempts": 2,
        "delay": hour,
        "timeout": hour,
        "expires": hour,
        "personal": True,
    }
    for chosen in product((True, False), repeat=len(options)):
        given: Any = dict(compress(options.items(), chosen))
        for _ in range(3):
            enqueue("echo", connection=db, **given)

    (count,) = db.connection.execute(COUNT).fetchone() or (0,)
    assert MOST <= count <= MOST + 1


def test_async_database_prepares_and_recovers(wire: Wire) -> None:
    async def scenario() -> None:
        async with AsyncDatabase(wire.url, connections=1) as db:
            for n in range(3 * USES):
                await enqueue("echo", n, connection=db)
            async with db.acquire() as connection:
                await connection.execute("deallocate all")
            assert (await enqueue("echo", connection=db)).outcome == "created"

    run_in_loop(scenario())

    assert len(named(wire)) == 1
