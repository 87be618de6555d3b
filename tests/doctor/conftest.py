"""A healthy installation: a server that vacuums, a login with the minimal privileges, and a recent tick."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, LiteralString
from uuid import uuid4

import botocore.client
import psycopg
import pytest
from click.testing import CliRunner
from moto import mock_aws
from psycopg import sql
from psycopg.conninfo import make_conninfo

from minutehand import Database
from minutehand.cli.app import cli
from minutehand.doctor import ExaminedDatabase, Finding, examine_database
from tests import servers
from tests.doctor.account import Account, answering, deploy
from tests.servers import Servers

SETTINGS = {"max_prepared_transactions": "2", "autovacuum_naptime": "1d", "synchronous_commit": "off"}
BAD = ("warning", "problem")


@dataclass
class Installation:
    """A database, its superuser URL, and the login that examines it."""

    url: str
    admin_url: str
    login: str = ""

    def sql(self, text: LiteralString, *names: str) -> None:
        """Run statements as the superuser."""
        with psycopg.connect(self.admin_url, autocommit=True) as admin:
            admin.execute(sql.SQL(text).format(*map(sql.Identifier, names)))

    @property
    def name(self) -> str:
        return str(psycopg.conninfo.conninfo_to_dict(self.admin_url)["dbname"])


@pytest.fixture(scope="session")
def healthy_address(servers: Servers) -> servers.Address:
    return servers.migrated("healthy", settings=SETTINGS)


@pytest.fixture
def installation(healthy_address: servers.Address) -> Iterator[Installation]:
    """A healthy database of the test."""
    database = healthy_address.make()
    login = f"test_{uuid4().hex[:12]}"
    installation = Installation(
        make_conninfo(database.url, user=login, password="x"), database.admin_url, login
    )
    installation.sql(
        "create role {} login password 'x' in role minutehand_operator, minutehand_worker, pg_read_all_stats",
        login,
    )
    installation.sql("update minutehand.dispatcher set ticked = now()")
    yield installation
    healthy_address.drop(database)
    with psycopg.connect(healthy_address.admin_url, autocommit=True) as admin:
        admin.execute(sql.SQL("drop role {}").format(sql.Identifier(login)))


Examine = Callable[..., dict[str, Finding]]


@pytest.fixture
def examine() -> Iterator[Examine]:
    """Examine a database and return the findings by check."""
    with ExitStack() as sessions:

        def examine(url: str, capacity: int = 50, **expected: Any) -> dict[str, Finding]:
            pair = Database(url), Database(url)
            for database in pair:
                sessions.callback(database.close)
            findings = examine_database(ExaminedDatabase(*pair, capacity, **expected))
            return {finding.check: finding for finding in findings}

        yield examine


def complaints(findings: dict[str, Finding]) -> set[str]:
    """Return the checks with a warning or a problem."""
    return {name for name, finding in findings.items() if finding.verdict in BAD}


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> Iterator[Account]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    with mock_aws():
        account = Account()
        deploy(account)
        monkeypatch.setattr(botocore.client.BaseClient, "_make_api_call", answering(account))
        yield account


@pytest.fixture
def findings(
    account: Account, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> Callable[..., dict[str, Any]]:
    """Run the command and return its output by check."""
    monkeypatch.chdir(tmp_path)

    def findings(*arguments: str) -> dict[str, Any]:
        ended = CliRunner().invoke(cli, ["doctor", "--stack", "shop", "-o", "json", *arguments])
        printed = [json.loads(line) for line in ended.stdout.splitlines()]
        assert ended.exit_code == any(line["verdict"] == "problem" for line in printed), ended.output
        return {line["check"]: line for line in printed}

    return findings


Findings = Callable[..., dict[str, Any]]
