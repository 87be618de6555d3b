"""PgBouncer in transaction mode with three connections, and the statements that a client must not send to it."""

import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import psycopg
import pytest
from proving import GRACE, LEASE, Post, Sessions, settings, states, together
from wire import SentStatement, Wire

from minutehand import Database, Job, NewJob, Snooze, enqueue, enqueue_many
from minutehand.attempts.in_turn import run_jobs
from minutehand.claim import claim, take
from minutehand.finish import finish
from minutehand.handlers import HandlerTable
from minutehand.invocations.running import run_event
from minutehand.model.invitation import parse
from minutehand.model.outcome import Done
from minutehand.operations.deletion import count_finished, delete_finished
from minutehand.operations.jobs import cancel, promote, reschedule, retry
from minutehand.queries.jobs import get, list_jobs, stats
from minutehand.schema.migrate import check_schema, migrate
from minutehand.tick import tick
from tests import servers
from tests.conftest import NewDatabase

pytestmark = pytest.mark.every_server

CLIENTS = 12
EACH = 20


def test_twelve_clients_share_three_connections(sessions: Sessions) -> None:
    def client(session: Database) -> Counter[str]:
        ended: Counter[str] = Counter()
        for n in range(EACH):
            enqueue("echo", n, connection=session)
            post = Post()
            tick(session, post, settings(capacity=100))
            for event in post.events:
                ended.update(
                    finish(job, Done()).ending for job in claim(session, parse(event).offers, LEASE, GRACE)
                )
        return ended

    ended: Counter[str] = sum(together([partial(client, sessions()) for _ in range(CLIENTS)]), Counter())
    rest = sessions()
    post = Post()
    tick(rest, post, settings(capacity=1000))
    ended.update(
        finish(job, Done()).ending for e in post.events for job in claim(rest, parse(e).offers, LEASE, GRACE)
    )

    assert ended == {"done": CLIENTS * EACH}
    assert states(rest) == {"done": CLIENTS * EACH}


def test_client_uses_no_session_state(new_database: NewDatabase) -> None:
    with Wire(new_database("pgbouncer-18").url) as wire:
        do_everything(wire.url)

        assert len(wire.statements) > 50
        assert forbidden(wire.statements) == []
        assert {name for startup in wire.startups for name in startup if name} <= STARTUP


@pytest.mark.parametrize(
    "text",
    [
        "set statement_timeout = 0",
        "listen jobs",
        "select pg_advisory_lock(1)",
        "discard all",
        "create temp table t ()",
    ],
)
def test_wire_detects_forbidden_statements(direct_database: servers.Database, text: Any) -> None:
    with Wire(direct_database.url) as wire, psycopg.connect(wire.url, autocommit=True) as connection:
        connection.execute(text)

        assert [each.text for each in forbidden(wire.statements)] == [text]


def test_wire_detects_prepared_statements(direct_database: servers.Database) -> None:
    with Wire(direct_database.url) as wire, psycopg.connect(wire.url, prepare_threshold=0) as connection:
        connection.execute("select %s::integer", [1])

        assert [each.text for each in forbidden(wire.statements)] == ["select $1::integer"]


STARTUP = {"user", "database", "application_name", "client_encoding"}
SESSION_STATE = re.compile(
    r"^\s*(set|reset|listen|unlisten|notify|prepare|execute|deallocate|discard|declare|load)\b"
    r"|^\s*create\s+(local\s+|global\s+)?temp|pg_(try_)?advisory_(lock|unlock)|pg_notify|set_config|\bwith\s+hold\b",
    re.IGNORECASE,
)


def forbidden(statements: list[SentStatement]) -> list[SentStatement]:
    """Return the statements that depend on session state. Comments at the start are ignored."""
    return [
        one
        for one in statements
        if one.name or SESSION_STATE.search(re.sub(r"^(\s*--[^\n]*\n)+", "", one.text))
    ]


def do_everything(url: str) -> None:
    """Run all kinds of statements of the library in one session."""
    db = Database(url)
    migrate(db)
    check_schema(db)
    enqueue_everything(db)
    post = Post()
    tick(db, post, settings(chunk=2))
    for event in post.events:
        run_event(db, HANDLERS, event, lambda: LEASE, GRACE)
    run_jobs(take(db, "default", 5, LEASE, GRACE), HANDLERS, lambda: True)
    ids = [
        row.id for row in list_jobs(db, states=["done", "dead", "cancelled", "scheduled", "retrying"]).rows
    ]
    for change in (cancel, promote, retry):
        change(db, ids)
    reschedule(db, ids, datetime.now(UTC) + timedelta(days=1))
    get(db, ids[0])
    stats(db)
    count_finished(db, datetime.now(UTC))
    list(delete_finished(db, datetime.now(UTC)))
    db.close()


def enqueue_everything(db: Database) -> None:
    for kind in HANDLED:
        enqueue(kind, {"n": 1}, connection=db, key=f"one/{kind}")
        enqueue(kind, {"n": 2}, connection=db, key=f"one/{kind}", delay=timedelta())
    assert all(list(enqueue_many((NewJob("returns", n, priority=n % 10) for n in range(30)), connection=db)))
    with db.transaction() as connection:
        enqueue("returns", connection=connection)


def returns(payload: object) -> object:
    return payload


def raises(_: object) -> None:
    raise RuntimeError


def snoozes(_: object) -> None:
    raise Snooze(timedelta(minutes=1))


def extends(_: object, job: Job) -> None:
    job.extend(LEASE)


def transacts(_: object, job: Job) -> None:
    with job.transaction() as connection:
        connection.execute("select 1")


HANDLED: dict[str, Any] = {f.__name__: f for f in (returns, raises, snoozes, extends, transacts)}
HANDLERS = HandlerTable(HANDLED)
