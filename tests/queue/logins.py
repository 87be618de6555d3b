"""Logins of one test, which are members of the roles of the schema and are dropped after the test."""

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
    """Yield a function: `login("worker")` opens a session of a new member of minutehand_worker."""
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
