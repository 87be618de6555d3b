"""A tenant sees and changes only its own rows, by any statement or operation."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from psycopg import errors

from minutehand import Database, InvalidJobError, NewJob, enqueue, enqueue_many
from minutehand.database.tenants import TenantDatabase, as_tenant
from minutehand.finish import finish
from minutehand.model.outcome import Failed
from minutehand.operations.audit import list_audit
from minutehand.operations.deletion import delete
from minutehand.operations.jobs import cancel, promote, replay, reschedule, retry
from minutehand.queries.jobs import list_jobs, stats
from tests.queue.logins import Login
from tests.queue.stage import Queue
from tests.queue.tenants.stage import ROWS, SET_TENANT, enqueue_as, jobs_of, query, query_as

pytestmark = pytest.mark.every_server


@pytest.mark.parametrize("role", ["operator", None])
def test_operator_changes_are_in_the_audit_trail_of_the_tenant(
    login: Login, queue: Queue, role: str | None
) -> None:
    session = login(role) if role else queue.database
    dead, running = queue.claimed(tenant="a", max_attempts=1), queue.claimed(tenant="a")
    finish(dead, Failed({"type": "ValueError", "message": "no", "trace": ""}))
    own, other, without_tenant = (
        enqueue_as(queue, "a"),
        enqueue_as(queue, "b"),
        queue.enqueue(delay=timedelta(days=1)),
    )
    promote(session, [own, other, without_tenant], actor="ada")
    cancel(session, [running.id], running=True, actor="ada")
    replay(session, [dead.id], actor="ada")
    delete(session, [own], actor="ada")

    trail = {
        tenant: {(entry.job, entry.verb) for entry in list_audit(TenantDatabase(queue.database, tenant))}
        for tenant in ("a", "b")
    }
    assert trail["a"] == {
        (own, "promote"),
        (running.id, "cancel_running"),
        (dead.id, "replay"),
        (own, "delete"),
    }
    assert trail["b"] == {(other, "promote")}
    assert [entry.tenant for entry in list_audit(session, job=without_tenant)] == [""]


@pytest.mark.parametrize("table", ROWS)
@pytest.mark.parametrize("role", ["tenant", "operator", "reader"])
def test_tenant_sees_only_its_own_rows_of_each_table(
    login: Login, queue: Queue, table: str, role: str
) -> None:
    session = login(role)
    for owner in ("a", "b", ""):
        queue.sql(ROWS[table], tenant=owner)
    seen = f"select distinct tenant::text from minutehand.{table} order by 1"

    assert query_as(session, "a", seen) == [("a",)]
    assert query_as(session, "b", seen) == [("b",)]
    assert query_as(session, "c", seen) == []
    assert query(session, seen) == ([] if role == "tenant" else [("",), ("a",), ("b",)])
    with as_tenant(session, "b") as own:
        assert query(own, seen) == [("b",)]


@pytest.mark.parametrize("role", ["tenant", "operator", "reader"])
def test_tenant_does_not_see_what_the_dispatcher_used(login: Login, queue: Queue, role: str) -> None:
    queue.sql(
        "insert into minutehand.dispatcher_usage values ('2026-01-01', 'minute', 256, 1, 1, 1, 1, 0, now(), 1, 1)"
    )
    session, seen = login(role), "select invocations from minutehand.dispatcher_usage"

    assert query_as(session, "a", seen) == []
    assert query(session, seen) == ([] if role == "tenant" else [(1,)])


def test_each_table_has_tenant_policies_or_no_grants(queue: Queue) -> None:
    """A new table has a tenant column and policies, or tenants have no privileges on it."""
    tables = queue.sql(
        """select c.relname::text as name, relrowsecurity as guarded,
                  exists (select from pg_attribute a where a.attrelid = c.oid and attname = 'tenant') as owned,
                  array(select polname::text from pg_policy where polrelid = c.oid order by 1) as policies,
                  array(select p from unnest('{select,insert,update,delete,truncate,references,trigger}'::text[]) p
                         where has_table_privilege('minutehand_tenant', c.oid, p)) as may
             from pg_class c
            where relnamespace = 'minutehand'::regnamespace and relkind in ('r', 'p') and relname !~ '_[0-9]{8}$'"""
    )
    unowned = {row["name"]: row["may"] for row in tables if not row["guarded"]}

    assert all(row["guarded"] for row in tables if row["owned"] and row["name"] not in unowned)
    assert {name for name, may in unowned.items() if may} == {
        "new_jobs",
        "migrations",
        "schema_files",
        # One time, of no tenant.
        "history_counted",
    }
    assert (unowned["new_jobs"], unowned["migrations"]) == (["insert"], ["select"])
    assert {row["name"] for row in tables if row["owned"] and not row["guarded"]} == {
        "new_jobs",
        "tenant_roles",
    }
    for row in tables:
        guards = (
            [f"minutehand_{each}" for each in ("operator", "reader", "tenant", "worker")]
            if row["guarded"]
            else []
        )
        assert row["policies"] == guards, row["name"]


def test_day_partitions_have_row_level_security(login: Login, queue: Queue) -> None:
    days = queue.sql(
        """select relname::text as name, relrowsecurity as guarded from pg_class
            where relnamespace = 'minutehand'::regnamespace and relkind = 'r' and relname ~ '_[0-9]{8}$'"""
    )

    assert len(days) > 7
    assert [day["name"] for day in days if not day["guarded"]] == []


def test_tenant_role_without_a_tenant_has_no_access(tenant: Database, queue: Queue) -> None:
    job_id = enqueue_as(queue, "a")
    without_tenant = queue.enqueue()

    assert list_jobs(tenant).rows == () and stats(tenant) == []
    assert [each.outcome for each in cancel(tenant, [job_id, without_tenant])] == ["absent", "absent"]
    attempts: list[dict[str, Any]] = [{}, {"tenant": "a"}, {"tenant": ""}]
    for options in attempts:
        with pytest.raises(InvalidJobError) as refused:
            enqueue("echo", connection=tenant, **options)
        assert refused.value.rule == "tenant_is_set"
    assert [item.outcome for item in enqueue_many([NewJob("echo")], connection=tenant)] == ["rejected"]
    assert len(queue.sql("select id from minutehand.jobs")) == 2


def change_all(database: Database, ids: list[UUID]) -> list[list[str]]:
    return [
        [each.outcome for each in changes]
        for changes in (
            reschedule(database, ids, delay=timedelta(days=1)),
            promote(database, ids),
            cancel(database, ids),
            retry(database, ids),
        )
    ]


@pytest.mark.parametrize("role", ["tenant", "operator"])
def test_operations_do_not_find_jobs_of_other_tenants(login: Login, queue: Queue, role: str) -> None:
    other, without_tenant = enqueue_as(queue, "b"), queue.enqueue()
    queue.sql("update minutehand.jobs set deleted = now(), failed = true where tenant = ''")
    own_id = enqueue_as(queue, "a")
    before = [jobs_of(queue, "b"), jobs_of(queue, "")]
    with as_tenant(login(role), "a") as own:
        assert change_all(own, [other, without_tenant]) == [["absent"] * 2] * 4
        assert [jobs_of(queue, "b"), jobs_of(queue, "")] == before
        assert change_all(own, [own_id]) == [["changed"]] * 4


@pytest.mark.parametrize(
    "text",
    [
        "update minutehand.jobs set visible = now() + interval '1 year'",
        "update minutehand.jobs set deleted = now() + interval '1 day', failed = true",
        "update minutehand.jobs set error = '[1]'",
        "update minutehand.jobs set tenant = 'b'",
        "delete from minutehand.jobs",
        "insert into minutehand.jobs_live (kind, tenant) values ('echo', 'a')",
        "update minutehand.schedules set job = '[]'",
        "insert into minutehand.audit (tenant, actor, verb) values ('a', 'root', 'cancel')",
        "insert into minutehand.attempts default values",
        "lock table minutehand.jobs in access exclusive mode",
        "lock table minutehand.jobs_live in row exclusive mode",
        "lock table minutehand.lanes in access share mode",
        "select from minutehand.jobs for update",
    ],
)
def test_tenant_cannot_write_or_lock_tables_directly(tenant: Database, queue: Queue, text: str) -> None:
    """It could otherwise take all capacity, prevent a day's partition, or stop everyone."""
    enqueue_as(queue, "a")

    with pytest.raises(errors.InsufficientPrivilege):
        query_as(tenant, "a", text)


def test_workers_serve_every_tenant(login: Login, queue: Queue) -> None:
    ids = {enqueue_as(queue, owner) for owner in ("a", "b")} | {queue.enqueue()}

    assert {job.id for job in queue.take(10, database=login("worker"))} == ids


def test_leaky_function_sees_no_row_of_another_tenant(tenant: Database, queue: Queue) -> None:
    """Postgres evaluates cheap conditions first, unless the policy must be evaluated before them."""
    enqueue_as(queue, "b", payload="theirs")
    enqueue_as(queue, "a", payload="own")
    notices: list[str] = []
    tenant.connection.add_notice_handler(lambda notice: notices.append(notice.message_primary or ""))
    with tenant.connection.transaction():
        query(
            tenant,
            "create function pg_temp.leak(text) returns boolean language plpgsql cost 0.0000001 as "
            "$$ begin raise notice '%', $1; return true; end $$",
        )
        tenant.connection.execute(SET_TENANT, ["a"])
        query(tenant, "select id from minutehand.jobs where pg_temp.leak(payload::text)")

    assert notices == ['"own"']
