"""A lost connection or an unreachable server is a typed error that says what to do, and one reconnect."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from proving import Post, Sessions, settings
from psycopg.conninfo import make_conninfo
from wire import Wire

import minutehand.database.liveness
from minutehand import ConfigurationError, Database, DatabaseError, NewJob, enqueue, enqueue_many
from minutehand.errors import ForbiddenError, ReadOnlyError, SchemaError, UnreachableError
from minutehand.queries.jobs import stats
from minutehand.tick import tick
from tests import servers

pytestmark = pytest.mark.every_server

PASSWORD = "s3cret/@:?#w0rd"


class CountedAddress:
    """The address of a database that counts how often it is requested."""

    def __init__(self, url: str) -> None:
        self.url, self.opened = url, 0

    def __call__(self) -> str:
        self.opened += 1
        return self.url


def test_connection_lost_in_a_freeze_is_reopened_transparently(
    database: servers.Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(minutehand.database.liveness, "IDLE_SECONDS", 0)
    with Wire(database.url) as wire:
        address = CountedAddress(wire.url)
        db = Database(address)
        enqueue("echo", connection=db)
        wire.cut()

        assert enqueue("echo", connection=db).outcome == "created"
        assert address.opened == 2
        db.close()


def test_connection_lost_at_work_is_one_error_then_reopened(
    database: servers.Database,
) -> None:
    with Wire(database.url) as wire:
        address = CountedAddress(wire.url)
        db = Database(address)
        enqueue("echo", connection=db)
        wire.cut_at("enqueue")

        with pytest.raises(UnreachableError):
            enqueue("echo", connection=db)
        assert enqueue("echo", connection=db).outcome == "created"
        assert address.opened == 2
        db.close()


def test_terminated_backend_is_replaced(
    direct_database: servers.Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(minutehand.database.liveness, "IDLE_SECONDS", 0)
    address = CountedAddress(direct_database.url)
    db = Database(address)
    with psycopg.connect(direct_database.admin_url, autocommit=True) as admin:
        admin.execute("select pg_terminate_backend(%s, 60000)", [db.connection.info.backend_pid])

    assert enqueue("echo", connection=db).outcome == "created"
    assert address.opened == 2
    db.close()


def test_restarted_server_is_reached_again(database: servers.Database) -> None:
    with Wire(database.url) as wire:
        db = Database(wire.url)
        enqueue("echo", connection=db)
        wire.close()

        for _ in range(3):
            with pytest.raises(UnreachableError, match="cannot be reached"):
                enqueue("echo", connection=db)
        wire.listen()

        assert enqueue("echo", connection=db).outcome == "created"
        db.close()


def test_transaction_of_a_lost_connection_is_rolled_back(
    database: servers.Database, sessions: Sessions
) -> None:
    with Wire(database.url) as wire:
        db = Database(wire.url)
        with pytest.raises(UnreachableError), db.transaction():  # noqa: PT012
            enqueue("echo", connection=db)
            wire.cut()
            enqueue("echo", connection=db)

        assert not db.in_transaction
        assert enqueue("echo", connection=db).outcome == "created"
        assert stats(sessions())[0].jobs == 1
        db.close()


def test_bulk_on_a_lost_connection_writes_whole_chunks_only(
    database: servers.Database, sessions: Sessions
) -> None:
    with Wire(database.url) as wire:
        db = Database(wire.url)

        def jobs() -> Any:
            for n in range(20):
                wire.cut_at("enqueue_alike") if n == 15 else None
                yield NewJob("echo", n)

        with pytest.raises(UnreachableError):
            list(enqueue_many(jobs(), connection=db, chunk=10))
        assert stats(sessions())[0].jobs == 10
        db.close()


@pytest.mark.parametrize(
    "call",
    [
        lambda db: enqueue("echo", connection=db),
        lambda db: tick(db, Post(), settings()),
        stats,
    ],
    ids=["enqueue", "tick", "stats"],
)
def test_unreachable_server_is_a_one_line_error(call: Callable[[Database], object]) -> None:
    db = Database("postgresql://postgres@127.0.0.1:1/postgres")

    with pytest.raises(UnreachableError, match=r"^the database cannot be reached: .*refused"):
        call(db)


def test_wrong_password_is_refused_and_not_quoted(direct_database: servers.Database) -> None:
    db = Database(make_conninfo(direct_database.url, password=PASSWORD))

    with pytest.raises(UnreachableError) as caught:
        enqueue("echo", connection=db)
    assert "password authentication failed" in str(caught.value)
    assert str(caught.value).endswith("; the user or the password in DATABASE_URL is wrong")
    assert_password_hidden(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://ada:{PASSWORD}@127.0.0.1/app",
        "postgresql://ada:s3cret%zzw0rd@127.0.0.1/app",
        "postgress://ada:s3cret-w0rd@127.0.0.1/app",
        "postgresql://ada:s3cret@w0rd@127.0.0.1/app",
        "postgresql://ada:s3cret#w0rd@127.0.0.1:54321x/app",
        "password=s3cret'w0rd",
    ],
)
def test_invalid_address_error_does_not_quote_the_password(url: str) -> None:
    with pytest.raises((ConfigurationError, DatabaseError)) as caught:
        enqueue("echo", connection=Database(url))
    assert_password_hidden(caught.value)


def test_read_only_database_is_a_clear_error(direct_database: servers.Database) -> None:
    db = Database(make_conninfo(direct_database.url, options="-c default_transaction_read_only=on"))

    for call in (lambda: enqueue("echo", connection=db), lambda: tick(db, Post(), settings())):
        with pytest.raises(ReadOnlyError, match="writable"):
            call()
    with pytest.raises(ReadOnlyError):
        list(enqueue_many([NewJob("echo")], connection=db))
    db.close()


def test_missing_privilege_and_missing_schema_are_clear_errors(
    direct_database: servers.Database, empty_database: servers.Database
) -> None:
    unprivileged = Database(make_conninfo(direct_database.url, options="-c role=pg_monitor"))
    empty = Database(empty_database.url)

    with pytest.raises(ForbiddenError):
        enqueue("echo", connection=unprivileged)
    with pytest.raises(SchemaError, match="minutehand migrate"):
        enqueue("echo", connection=empty)
    unprivileged.close()
    empty.close()


def test_borrowed_connection_is_never_closed(database: servers.Database) -> None:
    with Wire(database.url) as wire, minutehand.database.connect(wire.url) as connection:
        enqueue("echo", connection=connection, delay=timedelta(days=1))
        wire.cut()

        with pytest.raises(UnreachableError):
            enqueue("echo", connection=connection)
        assert connection.closed


def assert_password_hidden(error: BaseException | None) -> None:
    """Check the message, and the messages of its causes in a traceback."""
    while error is not None:
        assert not any(part in str(error) for part in ("s3cret", "w0rd"))
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
