"""A password that is rotated: fetched once, and again when the server refuses it, and never told."""

import psycopg
import pytest

from minutehand import ConfigurationError, Database, enqueue
from minutehand.errors import UnreachableError
from minutehand.settings import database_url
from tests import servers
from tests.connections.conftest import Role
from tests.connections.manager import Manager

OLD, NEW = "hunter2-old", "hunter2-new"


@pytest.fixture
def arn(manager: Manager, role: Role, monkeypatch: pytest.MonkeyPatch) -> str:
    """The secret that holds the URL."""
    arn = manager.keep(role(OLD))
    monkeypatch.setenv("MINUTEHAND_DATABASE_SECRET", arn)
    return arn


def test_a_secret_is_fetched_once_for_any_number_of_connections(manager: Manager, arn: str) -> None:
    for _ in range(3):
        db = Database(database_url)
        assert enqueue("echo", connection=db).outcome == "created"
        db.close()

    assert manager.asked == {arn: 1}


def test_new_password_is_used_after_a_rotation(
    manager: Manager, arn: str, role: Role, direct_database: servers.Database
) -> None:
    db = Database(database_url)
    enqueue("echo", connection=db)
    manager.rotate(arn, role(NEW))
    assert enqueue("echo", connection=db).outcome == "created"
    terminate(direct_database, db)

    assert enqueue("echo", connection=db).outcome == "created"
    assert manager.asked == {arn: 2}
    db.close()


def test_a_password_that_no_secret_knows_is_one_error_and_two_fetches(
    manager: Manager, arn: str, role: Role
) -> None:
    role(NEW)

    with pytest.raises(UnreachableError) as caught:
        enqueue("echo", connection=Database(database_url))
    assert "check the secret and the role" in str(caught.value)
    assert "password authentication failed" in str(caught.value)
    assert OLD not in everything(caught.value) and NEW not in everything(caught.value)
    assert manager.asked == {arn: 2}


def test_a_rotation_that_is_half_done_is_over_at_the_next_call(
    manager: Manager, arn: str, role: Role
) -> None:
    db = Database(database_url)
    new = role(NEW)
    with pytest.raises(UnreachableError):
        enqueue("echo", connection=db)
    manager.rotate(arn, new)

    assert enqueue("echo", connection=db).outcome == "created"
    db.close()


def test_another_refusal_does_not_fetch_the_secret_again(
    manager: Manager, direct_database: servers.Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    arn = manager.keep("postgresql://postgres@127.0.0.1:1/none")
    monkeypatch.setenv("MINUTEHAND_DATABASE_SECRET", arn)

    with pytest.raises(UnreachableError, match="refused"):
        enqueue("echo", connection=Database(database_url))
    assert manager.asked == {arn: 1}


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("AWS_ENDPOINT_URL_SECRETS_MANAGER", "http://127.0.0.1:1", "a VPC needs a NAT gateway"),
        ("AWS_ACCESS_KEY_ID", "", "AWS credentials are missing"),
        ("AWS_REGION", "", "AWS_REGION is not set"),
    ],
)
def test_what_keeps_a_secret_from_being_read_is_said(
    manager: Manager, monkeypatch: pytest.MonkeyPatch, name: str, value: str, sentence: str
) -> None:
    monkeypatch.setenv(name, value)
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    monkeypatch.delenv("AWS_SESSION_TOKEN")
    for gone in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(gone) if name == "AWS_ACCESS_KEY_ID" else None

    with pytest.raises(ConfigurationError, match=sentence):
        database_url({"MINUTEHAND_DATABASE_SECRET": "plain-name"})


def terminate(address: servers.Database, db: Database) -> None:
    with psycopg.connect(address.admin_url, autocommit=True) as admin:
        admin.execute("select pg_terminate_backend(%s, 5000)", [db.connection.info.backend_pid])


def everything(error: BaseException) -> str:
    """The error as a trace would show it, with its causes."""
    behind = error.__cause__ or error.__context__
    return f"{error!r} {everything(behind) if behind else ''}"
