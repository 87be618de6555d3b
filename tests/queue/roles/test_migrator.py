"""Migrate without a superuser, with and without the right to create roles, on a server without our roles."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import timedelta
from typing import Any, LiteralString
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from minutehand import Database, enqueue
from minutehand.claim import take
from minutehand.errors import ForbiddenError
from minutehand.finish import finish
from minutehand.maintenance import run_maintenance
from minutehand.model.outcome import Done
from minutehand.schema.migrate import check_schema, migrate
from minutehand.schema.steps import steps
from tests.servers import Servers, debian
from tests.waiting import until

pytestmark = pytest.mark.every_version

ROLES = "select rolname::text from pg_roles where rolname like 'minutehand%' order by 1"
DROP_DAYS: LiteralString = """
    do $$ declare day text; begin
        for day in select oid::regclass::text from pg_class where relkind = 'r' and relname ~ '^jobs_done_2' loop
            execute 'drop table ' || day;
        end loop;
    end $$"""
WAITING = (
    "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and query like '-- Roles, grants%'"
)
GROUPS = [
    f"minutehand_{group}" for group in ("enqueuer", "migrator", "operator", "reader", "tenant", "worker")
]


class Bare:
    """A server without the roles of the schema, which each test restores to that state."""

    def __init__(self, url: str, cleanup: ExitStack) -> None:
        self.url = url
        self._made = cleanup

    def sql(self, text: LiteralString, *names: str, at: str = "") -> list[Any]:
        """Run a statement as the superuser."""
        with psycopg.connect(at or self.url, autocommit=True) as admin:
            cursor = admin.execute(sql.SQL(text).format(*map(sql.Identifier, names)))
            return cursor.fetchall() if cursor.description else []

    def database(self, *grantees: str) -> str:
        """Make a database in which only these roles may create."""
        name = f"bare_{uuid4().hex[:8]}"
        self.sql("create database {} template template0", name)
        self._made.callback(self.sql, "drop database {} with (force)", name)
        for grantee in grantees:
            self.sql("grant create on database {} to {}", name, grantee)
        return make_conninfo(self.url, dbname=name)

    def role(self, attributes: LiteralString = "", group: str | None = None) -> str:
        """Make a login."""
        name = f"bare_{uuid4().hex[:8]}"
        self.sql("create role {} login password 'x' " + attributes, name)
        if group:
            self.sql("grant {} to {}", group, name)
        self._made.callback(self.drop, name)
        return name

    def drop(self, name: str) -> None:
        self.sql("drop owned by {0} cascade", name)
        self.sql("drop role {0}", name)

    def session(self, database: str, role: str) -> Database:
        session = Database(make_conninfo(database, user=role, password="x"))
        self._made.callback(session.close)
        return session


@pytest.fixture(scope="module")
def server(server_name: str) -> Iterator[str]:
    servers = Servers()
    try:
        yield servers.start("bare", binaries=debian() if server_name == "direct-15" else None)
    finally:
        servers.close()


@pytest.fixture
def bare(server: str) -> Iterator[Bare]:
    with ExitStack() as logins, ExitStack() as cleanup:
        bare = Bare(server, cleanup)
        yield bare
        cleanup.close()
        for (name,) in bare.sql(ROLES):
            logins.callback(bare.sql, "drop role {}", name)


def do_a_job(bare: Bare, database: str) -> None:
    """Enqueue as an enqueuer, work as a worker, and let maintenance create the missing partitions."""
    worker = bare.session(database, bare.role(group="minutehand_worker"))
    bare.sql("drop table minutehand.jobs_done_default", at=database)
    bare.sql(DROP_DAYS, at=database)
    assert run_maintenance(worker).swept
    enqueue("echo", connection=bare.session(database, bare.role(group="minutehand_enqueuer")))
    (job,) = take(worker, "default", 1, timedelta(minutes=1), timedelta(seconds=2))
    job.lease.start()
    assert finish(job, Done()).ending == "done"


def test_role_with_create_and_createrole_can_migrate(bare: Bare) -> None:
    migrator = bare.role("createrole")
    database = bare.database(migrator)
    session = bare.session(database, migrator)

    assert len(migrate(session)) == len(steps())
    check_schema(session)
    assert [name for (name,) in bare.sql(ROLES)] == GROUPS
    assert bare.sql(
        "select distinct nspowner::regrole::text from pg_namespace where nspname = 'minutehand'", at=database
    ) == [(migrator,)]
    do_a_job(bare, database)


def test_role_without_createrole_can_migrate_and_grant_later(bare: Bare) -> None:
    migrator = bare.role()
    database = bare.database(migrator)
    session = bare.session(database, migrator)
    notices: list[str] = []
    session.connection.add_notice_handler(lambda notice: notices.append(notice.message_primary or ""))
    migrate(session)

    assert bare.sql(ROLES) == []
    reported = [notice for notice in notices if "grant_roles" in notice]
    assert all(any(f"role {group} is missing" in notice for notice in reported) for group in GROUPS)
    for group in GROUPS:
        bare.sql("create role {} nologin", group)
    worker = bare.session(database, bare.role(group="minutehand_worker"))
    with pytest.raises(ForbiddenError):
        worker.run("migration_status")
    granted = session.connection.execute("select minutehand.grant_roles()").fetchall()
    assert sorted(name for (name,) in granted) == GROUPS
    do_a_job(bare, database)


def test_concurrent_migrations_of_two_databases_create_roles_once(bare: Bare) -> None:
    databases = [bare.database() for _ in range(2)]
    with ThreadPoolExecutor() as threads, psycopg.connect(bare.url) as first:
        for group in GROUPS:
            first.execute(sql.SQL("create role {} nologin").format(sql.Identifier(group)))
        done = [threads.submit(migrate, database) for database in databases]
        until(lambda: bare.sql(WAITING) == [(len(databases),)])
        first.commit()

    assert [len(each.result()) for each in done] == [len(steps())] * len(databases)
    assert [name for (name,) in bare.sql(ROLES)] == GROUPS
    do_a_job(bare, databases[-1])


def test_migrator_role_can_migrate_after_the_hand_over(bare: Bare) -> None:
    database = bare.database()
    migrate(database)
    bare.sql("select minutehand.hand_over()", at=database)
    deployer = bare.role(group="minutehand_migrator")
    bare.sql("alter role {} set role = 'minutehand_migrator'", deployer)
    session = bare.session(database, deployer)
    session.connection.execute(
        "alter table minutehand.jobs add column more text; "
        "alter table minutehand.lanes add column more text; "
        "create or replace function minutehand.make_days_ahead() returns integer "
        "language sql security definer as 'select minutehand.make_days(1)'; "
        "alter domain minutehand.kind drop constraint kind_is_a_name; "
        "alter type minutehand.bound rename attribute free to spare; "
        "alter type minutehand.bound rename attribute spare to free"
    )
    session.connection.execute("insert into minutehand.migrations values (99, 'later', '')")

    assert bare.sql(
        "select relowner::regrole::text from pg_class where relnamespace = 'minutehand'::regnamespace union "
        "select stxowner::regrole::text from pg_statistic_ext where stxnamespace = 'minutehand'::regnamespace",
        at=database,
    ) == [("minutehand_migrator",)]
    do_a_job(bare, database)


@pytest.fixture
def stranger(bare: Bare) -> Callable[[str], Database]:
    return lambda database: bare.session(database, bare.role("createrole"))


def test_role_without_create_privilege_gets_a_clear_error(
    bare: Bare, stranger: Callable[[str], Database]
) -> None:
    with pytest.raises(ForbiddenError, match="the database role may not do this"):
        migrate(stranger(bare.database()))
    assert bare.sql(ROLES) == []
