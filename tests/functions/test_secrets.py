"""Secrets are read from Secrets Manager on demand, and errors do not quote them."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from uuid import uuid4

import pytest
from psycopg.conninfo import conninfo_to_dict

from minutehand import ConfigurationError
from minutehand.settings import database_url, secret
from tests.connections.manager import Manager

HIDDEN = "hunter2"
RDS = {"host": "db.internal", "port": 5433, "username": "jobs", "password": "p@ss/:%", "dbname": "app"}


@pytest.fixture
def manager(monkeypatch: pytest.MonkeyPatch) -> Iterator[Manager]:
    """A Secrets Manager."""
    with Manager(monkeypatch) as manager:
        yield manager


def test_database_url_may_be_a_secret(manager: Manager) -> None:
    arn = manager.store(f"postgresql://jobs:{HIDDEN}@db.internal/app\n")

    assert database_url({"MINUTEHAND_DATABASE_SECRET": arn}) == f"postgresql://jobs:{HIDDEN}@db.internal/app"


def test_secret_may_be_the_json_of_rds(manager: Manager) -> None:
    url = database_url({"MINUTEHAND_DATABASE_SECRET": manager.store(json.dumps(RDS))})

    assert conninfo_to_dict(url) == {
        "host": "db.internal",
        "port": "5433",
        "user": "jobs",
        "password": "p@ss/:%",
        "dbname": "app",
        "sslmode": "require",
    }


def test_database_url_takes_precedence_over_the_secret() -> None:
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
def test_invalid_secret_is_rejected_without_quoting_it(manager: Manager, text: str) -> None:
    arn = manager.store(text or " ")

    with pytest.raises(ConfigurationError) as caught:
        database_url({"MINUTEHAND_DATABASE_SECRET": arn})
    assert HIDDEN not in str(caught.getrepr(chain=True))


def test_missing_secret_is_named(manager: Manager) -> None:
    with pytest.raises(
        ConfigurationError, match=r"the secret nowhere cannot be read: .* ResourceNotFoundException"
    ):
        database_url({"MINUTEHAND_DATABASE_SECRET": "nowhere"})


def test_binary_secret_is_rejected(manager: Manager) -> None:
    arn = manager.client.create_secret(Name=uuid4().hex, SecretBinary=b"\0")["ARN"]

    with pytest.raises(ConfigurationError, match="is binary"):
        database_url({"MINUTEHAND_DATABASE_SECRET": arn})


def test_error_without_url_or_secret_names_the_setting() -> None:
    with pytest.raises(ConfigurationError, match="DATABASE_URL is not set"):
        database_url({"DATABASE_URL": "", "MINUTEHAND_DATABASE_SECRET": ""})


def test_value_takes_precedence_over_the_secret(manager: Manager) -> None:
    environment = {"MINUTEHAND_API_TOKENS_SECRET": manager.store("kept")}

    assert secret("MINUTEHAND_API_TOKENS", environment) == "kept"
    assert secret("MINUTEHAND_API_TOKENS", environment | {"MINUTEHAND_API_TOKENS": "set"}) == "set"
    assert (
        secret("MINUTEHAND_API_TOKENS", {"MINUTEHAND_API_TOKENS_SECRET": "", "MINUTEHAND_API_TOKENS": ""})
        == ""
    )


def test_cached_secret_is_read_again_when_it_expires(manager: Manager) -> None:
    environment = {"MINUTEHAND_API_TOKENS_SECRET": manager.store("old")}
    first = secret("MINUTEHAND_API_TOKENS", environment)

    manager.rotate(environment["MINUTEHAND_API_TOKENS_SECRET"], "new")

    assert first == "old"
    assert secret("MINUTEHAND_API_TOKENS", environment) == "old"
    assert secret("MINUTEHAND_API_TOKENS", environment, max_age=timedelta()) == "new"
    assert manager.fetches[environment["MINUTEHAND_API_TOKENS_SECRET"]] == 2


def test_concurrent_threads_fetch_a_secret_once(manager: Manager) -> None:
    environment = {"MINUTEHAND_API_TOKENS_SECRET": manager.store("kept")}
    with ThreadPoolExecutor(8) as threads:
        secrets = list(threads.map(lambda _: secret("MINUTEHAND_API_TOKENS", environment), range(8)))

    assert secrets == ["kept"] * 8
    assert manager.fetches == {environment["MINUTEHAND_API_TOKENS_SECRET"]: 1}


def test_aurora_secret_is_completed_by_the_environment(manager: Manager) -> None:
    arn = manager.store(json.dumps({"username": "jobs", "password": HIDDEN}))
    environment = {
        "MINUTEHAND_DATABASE_SECRET": arn,
        "MINUTEHAND_DATABASE_HOST": "cluster.internal",
        "MINUTEHAND_DATABASE_NAME": "app",
    }
    bare = f"postgresql://jobs:{HIDDEN}@cluster.internal:5432/app"

    assert database_url(environment) == f"{bare}?sslmode=require"
    assert database_url(environment | {"MINUTEHAND_DATABASE_TLS": "verify"}) == bare
    assert database_url(environment | {"MINUTEHAND_DATABASE_PORT": "6432"}).endswith(
        ":6432/app?sslmode=require"
    )
    assert database_url(environment | {"MINUTEHAND_DATABASE_IAM": "1"}).startswith(
        "postgresql://jobs@cluster"
    )


def test_missing_parts_of_a_secret_are_named(manager: Manager) -> None:
    arn = manager.store(json.dumps({"username": "jobs", "password": HIDDEN}))

    with pytest.raises(
        ConfigurationError, match=r"lacks host and dbname; .*MINUTEHAND_DATABASE_HOST"
    ) as caught:
        database_url({"MINUTEHAND_DATABASE_SECRET": arn})
    assert HIDDEN not in str(caught.value)
