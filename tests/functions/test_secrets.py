"""Secrets are read from Secrets Manager, when they are needed, and no error tells any of them."""

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import uuid4

import boto3
import psycopg
import pytest
from moto import mock_aws
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from minutehand import ConfigurationError, Database
from minutehand.settings import database_url, secret
from tests.servers import Database as Address

HIDDEN = "hunter2"
RDS = {"host": "db.internal", "port": 5433, "username": "jobs", "password": "p@ss/:%", "dbname": "app"}


@pytest.fixture
def manager(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A Secrets Manager."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    with mock_aws():
        yield boto3.client("secretsmanager")


def keep(manager: Any, text: str) -> str:
    return str(manager.create_secret(Name=uuid4().hex, SecretString=text)["ARN"])


def test_the_database_s_url_may_be_a_secret(manager: Any) -> None:
    arn = keep(manager, f"postgresql://jobs:{HIDDEN}@db.internal/app\n")

    assert database_url({"MINUTEHAND_DATABASE_SECRET": arn}) == f"postgresql://jobs:{HIDDEN}@db.internal/app"


def test_the_secret_may_be_the_json_that_rds_keeps(manager: Any) -> None:
    url = database_url({"MINUTEHAND_DATABASE_SECRET": keep(manager, json.dumps(RDS))})

    assert conninfo_to_dict(url) == {
        "host": "db.internal", "port": "5433", "user": "jobs", "password": "p@ss/:%", "dbname": "app",
        "sslmode": "require",
    }  # fmt: skip


def test_database_url_goes_before_the_secret() -> None:
    assert (
        database_url({"DATABASE_URL": "postgresql:///here", "MINUTEHAND_DATABASE_SECRET": "no"})
        == "postgresql:///here"
    )


@pytest.mark.parametrize(
    "text",
    [
        HIDDEN,
        "",
        f'["{HIDDEN}"]',
        f'"{HIDDEN}"',
        "null",
        json.dumps({"username": "jobs", "password": HIDDEN}),
        json.dumps({**RDS, "password": HIDDEN, "host": ""}),
        f'{{"password": "{HIDDEN}", ',
    ],
)
def test_a_secret_that_is_no_address_is_refused_without_a_word_of_it(manager: Any, text: str) -> None:
    arn = keep(manager, text or " ")

    with pytest.raises(ConfigurationError) as caught:
        database_url({"MINUTEHAND_DATABASE_SECRET": arn})
    assert HIDDEN not in str(caught.getrepr(chain=True))


def test_a_secret_that_is_not_there_is_named(manager: Any) -> None:
    with pytest.raises(
        ConfigurationError, match=r"the secret nowhere cannot be read: .* ResourceNotFoundException"
    ):
        database_url({"MINUTEHAND_DATABASE_SECRET": "nowhere"})


def test_a_secret_that_is_binary_is_refused(manager: Any) -> None:
    arn = manager.create_secret(Name="binary", SecretBinary=b"\0")["ARN"]

    with pytest.raises(ConfigurationError, match="is binary"):
        database_url({"MINUTEHAND_DATABASE_SECRET": arn})


def test_without_a_url_and_without_a_secret_the_error_says_what_to_set() -> None:
    with pytest.raises(ConfigurationError, match="DATABASE_URL is not set"):
        database_url({"DATABASE_URL": "", "MINUTEHAND_DATABASE_SECRET": ""})


def test_a_secret_s_own_variable_goes_before_the_one_that_names_it(manager: Any) -> None:
    environment = {"MINUTEHAND_API_TOKENS_SECRET": keep(manager, "kept")}

    assert secret("MINUTEHAND_API_TOKENS", environment) == "kept"
    assert secret("MINUTEHAND_API_TOKENS", environment | {"MINUTEHAND_API_TOKENS": "set"}) == "set"
    assert (
        secret("MINUTEHAND_API_TOKENS", {"MINUTEHAND_API_TOKENS_SECRET": "", "MINUTEHAND_API_TOKENS": ""})
        == ""
    )


def test_a_secret_is_asked_for_again_when_it_was_kept_for_long_enough(manager: Any) -> None:
    environment = {"MINUTEHAND_API_TOKENS_SECRET": keep(manager, "old")}
    first = secret("MINUTEHAND_API_TOKENS", environment)

    manager.put_secret_value(SecretId=environment["MINUTEHAND_API_TOKENS_SECRET"], SecretString="new")

    assert first == "old"
    assert secret("MINUTEHAND_API_TOKENS", environment) == "old"
    assert secret("MINUTEHAND_API_TOKENS", environment, keep=timedelta()) == "new"


def test_a_password_that_was_rotated_is_used_at_the_next_connection(
    manager: Any, direct_database: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    role = f"rotated_{uuid4().hex[:8]}"
    arn = keep(manager, _url(direct_database, role, "first"))
    monkeypatch.setenv("MINUTEHAND_DATABASE_SECRET", arn)
    with psycopg.connect(direct_database.admin_url, autocommit=True) as admin:
        admin.execute(sql.SQL("create role {} superuser login password 'first'").format(sql.Identifier(role)))
        database = Database(database_url)
        database.connection.execute("select 1")

        admin.execute(sql.SQL("alter role {} password 'second'").format(sql.Identifier(role)))
        manager.put_secret_value(SecretId=arn, SecretString=_url(direct_database, role, "second"))
        database.connection.execute("select 1")
        database.close()

        assert database.connection.execute("select current_user").fetchone() == (role,)
        database.close()
        admin.execute(sql.SQL("drop role {}").format(sql.Identifier(role)))


def _url(address: Address, role: str, password: str) -> str:
    facts = conninfo_to_dict(address.url)
    return f"postgresql://{role}:{password}@{facts['host']}:{facts['port']}/{facts['dbname']}"
