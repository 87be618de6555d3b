"""Logins of a test's own: real roles that are members of one of the schema's groups, and gone after the test."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from uuid import uuid4

import psycopg
from psycopg import sql

from minutehand import Database
from tests import servers

Login = Callable[..., Database]


@contextmanager
def logins(database: servers.Database) -> Iterator[Login]:
    """Let a test log in: `login("worker")` is a session of a new role, which is a member of minutehand_worker."""
    with psycopg.connect(database.admin_url, autocommit=True) as admin, ExitStack() as made:

        def login(group: str | None = None, attributes: str = "") -> Database:
            name = f"test_{uuid4().hex[:12]}"
            role = sql.Identifier(name)
            admin.execute(
                sql.SQL("create role {} login password 'x' {}").format(role, sql.SQL(attributes))  # type: ignore[arg-type]
            )
            made.callback(admin.execute, sql.SQL("drop owned by {0}; drop role {0}").format(role))
            if group:
                group_role = sql.Identifier(f"minutehand_{group}")
                admin.execute(sql.SQL("grant {} to {}").format(group_role, role))
            session = Database(psycopg.conninfo.make_conninfo(database.url, user=name, password="x"))
            made.callback(session.close)
            return session

        yield login
