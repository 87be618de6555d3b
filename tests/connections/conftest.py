"""Shared fixtures of the connection tests: a Secrets Manager, and roles whose passwords change."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from tests.connections.manager import Manager
from tests.servers import Database


class Role(Protocol):
    """Makes a role, or gives it another password, and returns the URL with it."""

    def __call__(self, password: str) -> str: ...


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    """A directory for a server of a module's own, which may be another user's; pytest's own are closed to that."""
    with TemporaryDirectory(prefix="minutehand-tests-") as directory:
        Path(directory).chmod(0o755)
        yield Path(directory).resolve()


@pytest.fixture
def manager(monkeypatch: pytest.MonkeyPatch) -> Iterator[Manager]:
    """A Secrets Manager of the test's own."""
    with Manager(monkeypatch) as manager:
        yield manager


@pytest.fixture
def role(direct_database: Database) -> Iterator[Role]:
    """A role of the test in `direct_database`, with the password that was set last."""
    name = f"rotated_{uuid4().hex[:8]}"
    facts = conninfo_to_dict(direct_database.url)
    with psycopg.connect(direct_database.admin_url, autocommit=True) as admin, ExitStack() as after:
        admin.execute(sql.SQL("create role {} superuser login").format(sql.Identifier(name)))
        after.callback(lambda: admin.execute(sql.SQL("drop role {}").format(sql.Identifier(name))))

        def change(password: str) -> str:
            admin.execute(sql.SQL("alter role {} password {}").format(sql.Identifier(name), password))
            return f"postgresql://{name}:{password}@{facts['host']}:{facts['port']}/{facts['dbname']}"

        yield change
