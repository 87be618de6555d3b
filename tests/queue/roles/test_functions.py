"""Functions and grants of the schema are safe against their callers."""

from typing import LiteralString

import psycopg
import pytest
from psycopg import errors, sql

from minutehand import Database, NewJob, enqueue, enqueue_many
from minutehand.errors import UnreachableError
from tests import servers
from tests.queue.logins import Login
from tests.queue.roles.privileges import ROLES
from tests.queue.stage import Queue

pytestmark = pytest.mark.every_version


def test_functions_ignore_the_search_path_of_the_caller(
    login: Login, queue: Queue, database: servers.Database
) -> None:
    """A security definer function that used the search path of the caller would run code of the caller."""
    session = login("enqueuer")
    shadow = sql.Identifier(f"evil_{session.connection.info.user}")
    path = sql.SQL("{}, pg_temp, minutehand, pg_catalog").format(shadow)
    with psycopg.connect(database.admin_url, autocommit=True) as admin:
        admin.execute(
            sql.SQL("create schema {} authorization {}").format(
                shadow, sql.Identifier(session.connection.info.user)
            )
        )
    with session.transaction() as connection:
        connection.execute(sql.SQL("set local search_path = {}").format(path))
        for text in SHADOWS:
            connection.execute(sql.SQL(text).format(shadow))
        made = enqueue("echo", {"n": 1}, key="a", connection=connection)
        enqueue("echo", {"n": 1}, key="a", on_conflict="ignore", connection=connection)
        list(enqueue_many([NewJob("echo", 2)], connection=connection))

    assert queue.row(made.id).payload == {"n": 1}
    assert queue.sql("select count(*) from minutehand.jobs") == [{"count": 2}]
    assert queue.sql("select rolname from pg_roles where rolname like 'evil%'") == []


SHADOWS: list[LiteralString] = [
    "create table {}.jobs_live (id uuid)",
    "create table {}.lanes (id uuid)",
    "create temporary table jobs_live (id uuid)",
    "create temporary table lanes (id uuid)",
    "create temporary table defaults (id uuid)",
    "create function {}.clock_timestamp() returns timestamptz language plpgsql as"
    " $$ begin raise 'shadowed'; end $$",
    "create function {}.now() returns timestamptz language plpgsql as $$ begin raise 'shadowed'; end $$",
    "create function {}.uuid7() returns uuid language plpgsql as $$ begin raise 'shadowed'; end $$",
    "create function {}.refuse(text, text, text) returns void language plpgsql as"
    " $$ begin raise 'shadowed'; end $$",
    "create function {}.octet_length(text) returns integer language plpgsql as"
    " $$ begin raise 'shadowed'; end $$",
    "create function {}.unnest(minutehand.new_jobs[]) returns setof minutehand.new_jobs language plpgsql as"
    " $$ begin raise 'shadowed'; end $$",
    "create function {}.equal(text, text) returns boolean language plpgsql as"
    " $$ begin raise 'shadowed'; end $$",
    "create operator {}.= (leftarg = text, rightarg = text, function = equal)",
]


def test_trigger_of_a_role_cannot_use_functions_of_the_schema(login: Login) -> None:
    session = login("enqueuer")
    with session.transaction() as connection:
        connection.execute(
            "create temporary table own_jobs (queue text, priority integer, visible timestamptz)"
        )
        with pytest.raises(errors.InsufficientPrivilege), connection.transaction():
            connection.execute(
                "create trigger borrowed after insert on own_jobs "
                "for each row execute function minutehand.record_lanes()"
            )
        connection.execute("drop table own_jobs")


def test_grant_roles_restores_all_revoked_grants(queue: Queue) -> None:
    """A role that is created after a migration has only the privileges that grant_roles() gives."""
    run = queue.database.connection.execute
    run("select minutehand.grant_roles()")
    before = run(OPERATOR_PRIVILEGES).fetchall()
    run("revoke all on all tables in schema minutehand from minutehand_operator")
    run("revoke all on all functions in schema minutehand from minutehand_operator")
    revoked = run(OPERATOR_PRIVILEGES).fetchall()
    run("select minutehand.grant_roles()")

    assert len(before) > len(revoked) + 40
    assert run(OPERATOR_PRIVILEGES).fetchall() == before


OPERATOR_PRIVILEGES = """
select c.oid::regclass::text as object, a.privilege_type
  from pg_class c, aclexplode(c.relacl) a
 where c.relnamespace = 'minutehand'::regnamespace and a.grantee = 'minutehand_operator'::regrole
 union
select p.oid::regprocedure::text, a.privilege_type
  from pg_proc p, aclexplode(p.proacl) a
 where p.pronamespace = 'minutehand'::regnamespace and a.grantee = 'minutehand_operator'::regrole
 order by 1, 2
"""


def test_grant_roles_is_idempotent(queue: Queue) -> None:
    grants: LiteralString = """
        select relname::text as name, relacl::text as acl from pg_class where relnamespace = 'minutehand'::regnamespace
        union all select proname, proacl::text from pg_proc where pronamespace = 'minutehand'::regnamespace
        union all select attrelid::regclass || '.' || attname, attacl::text
                    from pg_attribute where attacl is not null order by 1, 2"""
    before = queue.sql(grants)
    granted = queue.sql("select minutehand.grant_roles() as role")

    assert queue.sql(grants) == before
    assert [row["role"] for row in granted] == [
        f"minutehand_{group}" for group in ("enqueuer", "worker", "operator", "tenant", "reader", "migrator")
    ]


@pytest.mark.parametrize("role", ROLES)
def test_group_role_cannot_log_in(database: servers.Database, role: str) -> None:
    url = psycopg.conninfo.make_conninfo(database.admin_url, user=f"minutehand_{role}", password="x")
    with pytest.raises(UnreachableError):
        Database(url).run("clock")
