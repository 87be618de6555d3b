"""Password rotation: the secret is fetched once, and again when the server rejects the password."""

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
    arn = manager.store(role(OLD))
    monkeypatch.setenv("MINUTEHAND_DATABASE_SECRET", arn)
    return arn


def test_secret_is_fetched_once_for_all_connections(manager: Manager, arn: str) -> None:
    for _ in range(3):
        db = Database(database_url)
        assert enqueue("echo", connection=db).outcome == "created"
        db.close()

    assert manager.fetches == {arn: 1}


def test_new_password_is_used_after_a_rotation(
    manager: Manager, arn: str, role: Role, direct_database: servers.Database
) -> None:
    db = Database(database_url)
    enqueue("echo", connection=db)
    manager.rotate(arn, role(NEW))
    assert enqueue("echo", connection=db).outcome == "created"
    terminate(direct_database, db)

    assert enqueue("echo", connection=db).outcome == "created"
    assert manager.fetches == {arn: 2}
    db.close()


def test_wrong_password_is_one_error_after_two_fetches(manager: Manager, arn: str, role: Role) -> None:
    role(NEW)

    with pytest.raises(UnreachableError) as caught:
        enqueue("echo", connection=Database(database_url))
    assert "check the URL or the secret, and the role" in str(caught.value)
    assert "password authentication failed" in str(caught.value)
    assert OLD not in everything(caught.value) and NEW not in everything(caught.value)
    assert manager.fetches == {arn: 2}


def test_incomplete_rotation_recovers_at_the_next_call(manager: Manager, arn: str, role: Role) -> None:
    db = Database(database_url)
    new = role(NEW)
    with pytest.raises(UnreachableError):
        enqueue("echo", connection=db)
    manager.rotate(arn, new)

    assert enqueue("echo", connection=db).outcome == "created"
    db.close()


def test_other_connection_error_does_not_refetch_the_secret(
    manager: Manager, direct_database: servers.Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    arn = manager.store("postgresql://postgres@127.0.0.1:1/none")
    monkeypatch.setenv("MINUTEHAND_DATABASE_SECRET", arn)

    with pytest.raises(UnreachableError, match="refused"):
        enqueue("echo", connection=Database(database_url))
    assert manager.fetches == {arn: 1}


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("AWS_ENDPOINT_URL_SECRETS_MANAGER", "http://127.0.0.1:1", "a VPC needs a NAT gateway"),
        ("AWS_ACCESS_KEY_ID", "", "AWS credentials are missing"),
        ("AWS_REGION", "", "AWS_REGION is not set"),
    ],
)
def test_unreadable_secret_error_names_the_cause(
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
        admin.execute("select pg_terminate_backend(%s, 60000)", [db.connection.info.backend_pid])


def everything(error: BaseException) -> str:
    """Return the error as a traceback shows it, with its causes."""
    behind = error.__cause__ or error.__context__
    return f"{error!r} {everything(behind) if behind else ''}"
