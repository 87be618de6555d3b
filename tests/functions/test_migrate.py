"""The migration function runs at each deploy and reports the result to CloudFormation."""

import logging
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from minutehand.schema.steps import migrations
from tests.conftest import NewDatabase
from tests.functions.cloudformation import Context, event, last_response
from tests.functions.conftest import Server
from tests.functions.fleet import load
from tests.servers import Database

PASSWORD = "correct-horse"


@pytest.fixture
def storage() -> Iterator[Server]:
    """The S3 of CloudFormation's response URL."""
    with Server("200 OK") as server:
        yield server


@pytest.fixture
def app() -> Any:
    return load("migrate")


@pytest.fixture
def stranger(empty_database: Database) -> Iterator[str]:
    """A role without privileges in the database."""
    name = f"stranger_{uuid4().hex[:8]}"
    with psycopg.connect(empty_database.admin_url, autocommit=True) as connection:
        connection.execute(f"create role {name} login password '{PASSWORD}'")  # type: ignore[arg-type]
        yield name
        connection.execute(f"drop role {name}")  # type: ignore[arg-type]


def connect_as(user: str, url: str) -> str:
    return psycopg.conninfo.make_conninfo(url, user=user, password=PASSWORD)


def versions(database: Database) -> list[int]:
    with psycopg.connect(database.admin_url) as connection:
        if connection.execute("select to_regclass('minutehand.migrations')").fetchone() == (None,):
            return []
        found = connection.execute("select version from minutehand.migrations order by 1").fetchall()
        return [version for (version,) in found]


def note(database: Database, version: int) -> None:
    """Migrate to the schema of a later release."""
    with psycopg.connect(database.admin_url) as connection:
        connection.execute("insert into minutehand.migrations values (%s, 'future', 'x')", [version])


@pytest.mark.every_server
def test_create_migrates_the_schema_and_update_finds_it_current(
    app: Any, storage: Server, new_database: NewDatabase, server_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = new_database(server_name, migrated=False)
    monkeypatch.setenv("DATABASE_URL", database.url)

    app.handler(event("Create", storage), Context())
    first = last_response(storage)
    app.handler(event("Update", storage), Context())
    second = last_response(storage)

    assert first["Status"] == second["Status"] == "SUCCESS"
    assert "0001 tables" in first["Reason"]
    assert second["Reason"] == "the schema is up to date"
    assert versions(database) == [migration.version for migration in migrations()]


def test_missing_privilege_fails_the_deploy_and_is_explained(
    app: Any, storage: Server, empty_database: Database, stranger: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", connect_as(stranger, empty_database.url))

    app.handler(event("Create", storage), Context())

    answer = last_response(storage)
    assert answer["Status"] == "FAILED"
    assert "must own the schema minutehand, or be allowed to create it" in answer["Reason"]
    assert PASSWORD not in answer["Reason"]
    assert versions(empty_database) == []


def test_unreachable_database_fails_the_deploy_without_its_password(
    app: Any, storage: Server, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("DATABASE_URL", f"postgresql://minutehand:{PASSWORD}@127.0.0.1:1/none")
    monkeypatch.setenv("MINUTEHAND_CONNECT_TIMEOUT", "1")

    app.handler(event("Update", storage), Context())

    answer = last_response(storage)
    assert answer["Status"] == "FAILED"
    assert "subnets and security groups" in answer["Reason"]
    assert PASSWORD not in answer["Reason"] + caplog.text


def test_deploy_without_a_database_fails_and_names_the_setting(app: Any, storage: Server) -> None:
    app.handler(event("Create", storage), Context())

    assert last_response(storage)["Status"] == "FAILED"
    assert "DATABASE_URL is not set" in last_response(storage)["Reason"]


def test_rollback_keeps_a_newer_schema_and_succeeds(
    app: Any,
    storage: Server,
    direct_database: Database,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv("DATABASE_URL", direct_database.url)
    note(direct_database, 99)

    with caplog.at_level(logging.INFO):
        app.handler(event("Update", storage), Context())

    assert last_response(storage)["Status"] == "SUCCESS"
    assert "schema left unchanged: the schema is at version 99" in caplog.text
    assert 99 in versions(direct_database)


def test_new_stack_of_an_older_release_fails_on_a_newer_schema(
    app: Any, storage: Server, direct_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", direct_database.url)
    note(direct_database, 99)

    app.handler(event("Create", storage), Context())

    assert last_response(storage)["Status"] == "FAILED"
    assert "update minutehand" in last_response(storage)["Reason"]


def test_changed_migration_fails_an_update(
    app: Any, storage: Server, direct_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", direct_database.url)
    with psycopg.connect(direct_database.admin_url) as connection:
        connection.execute("update minutehand.migrations set checksum = 'x' where version = 1")

    app.handler(event("Update", storage), Context())

    assert last_response(storage)["Status"] == "FAILED"
    assert "migration 1 (tables) was changed" in last_response(storage)["Reason"]


def test_stack_deletion_keeps_the_schema_and_its_jobs(
    app: Any, storage: Server, direct_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", direct_database.url)

    app.handler(event("Delete", storage), Context())

    assert last_response(storage)["Status"] == "SUCCESS"
    assert versions(direct_database) == [migration.version for migration in migrations()]


def test_stack_deletion_succeeds_without_its_database(app: Any, storage: Server) -> None:
    app.handler(event("Delete", storage), Context())

    assert last_response(storage)["Status"] == "SUCCESS"


def test_blocked_migration_is_cancelled_and_answered_in_time(
    app: Any, storage: Server, empty_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", empty_database.url)
    with psycopg.connect(empty_database.admin_url) as other:
        other.execute("set idle_in_transaction_session_timeout = '20s'")  # a failed test must end, too
        other.execute("select pg_advisory_xact_lock(6074190482)")

        app.handler(event("Create", storage), Context(round(app.RESPONSE_SECONDS * 1000) + 500))

        assert last_response(storage)["Status"] == "FAILED"
        assert "took too long" in last_response(storage)["Reason"]
        waiting = "select count(*) from pg_locks where locktype = 'advisory' and not granted"
        assert other.execute(waiting).fetchone() == (0,)
    assert versions(empty_database) == []


# The first alarm may ring while an object is freed, where Python only reports it.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_event_without_time_left_is_answered(
    app: Any, storage: Server, empty_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", empty_database.url)
    with psycopg.connect(empty_database.admin_url) as other:
        other.execute("set idle_in_transaction_session_timeout = '20s'")  # a failed test must end, too
        # The migration waits, so that it does not end before the second alarm.
        other.execute("select pg_advisory_xact_lock(6074190482)")

        app.handler(event("Create", storage), Context(1))

    assert last_response(storage)["Status"] == "FAILED"
