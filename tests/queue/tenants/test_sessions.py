"""A session acts as one tenant for a transaction, and a bound role always."""

from typing import LiteralString

import pytest
from psycopg import errors, sql

from minutehand import Database, InvalidJobError, NewJob, enqueue, enqueue_many
from minutehand.database.tenants import TenantDatabase, as_tenant
from minutehand.errors import ForbiddenError
from minutehand.operations.audit import list_audit
from minutehand.operations.jobs import cancel, promote
from minutehand.queries.jobs import list_jobs
from tests import servers
from tests.queue.logins import Login, logins
from tests.queue.stage import Queue
from tests.queue.tenants.stage import enqueue_as, jobs_of, query, query_as

pytestmark = pytest.mark.every_server


def execute(session: Database, text: LiteralString, *names: str) -> None:
    """Do what takes names in place of parameters."""
    session.connection.execute(sql.SQL(text).format(*map(sql.Identifier, names)))


def test_owner_and_shared_login_are_confined_to_the_tenant(login: Login, queue: Queue) -> None:
    """The owner of a small installation, and a login that all functions of a stack share."""
    other = enqueue_as(queue, "b")
    own_id = enqueue_as(queue, "a")
    shared_login = login("worker")
    execute(queue.database, "grant minutehand_operator to {}", shared_login.connection.info.user)
    for session in (queue.database, shared_login):
        with as_tenant(session, "a") as own:
            assert [row.id for row in list_jobs(own).rows] == [own_id]
            assert [each.outcome for each in cancel(own, [other])] == ["absent"]
        assert len(list_jobs(session).rows) == 2


def test_threads_that_share_a_tenant_database_take_turns(queue: Queue) -> None:
    database = TenantDatabase(queue.another(), "a")

    def begin() -> None:
        for _ in range(100):
            with database.transaction():
                database.run("clock")

    def read() -> None:
        for _ in range(200):
            database.run("clock")

    for running in [queue.start(begin), queue.start(read)]:
        running.result(timeout=120)


def test_login_that_cannot_act_as_a_tenant_is_refused(login: Login, queue: Queue) -> None:
    enqueue_as(queue, "b")

    with pytest.raises(ForbiddenError, match="cannot act as a tenant"), as_tenant(login("worker"), "a"):
        raise AssertionError("the login was accepted")


@pytest.fixture
def bound(login: Login, queue: Queue) -> Database:
    """A login that is bound to tenant a."""
    session = login("tenant")
    queue.sql("insert into minutehand.tenant_roles values (%(role)s, 'a')", role=session.connection.info.user)
    return session


def test_bound_role_ignores_the_tenant_of_its_session(bound: Database, queue: Queue) -> None:
    own_id, other = enqueue_as(queue, "a"), enqueue_as(queue, "b")
    seen = "select id from minutehand.jobs"

    assert query(bound, seen) == query_as(bound, "b", seen) == [(own_id,)]
    with bound.connection.transaction():
        query(bound, "set local role minutehand_tenant")
        assert query_as(bound, "b", seen) == [(own_id,)]
    with pytest.raises(ForbiddenError, match="is bound to tenant a"), as_tenant(bound, "b"):
        pass
    with pytest.raises(InvalidJobError) as refused:
        enqueue("echo", tenant="b", connection=bound)
    assert refused.value.rule == "tenant_is_own"
    assert [each.outcome for each in cancel(bound, [other])] == ["absent"]
    with as_tenant(bound, "a") as own:
        enqueue("echo", connection=own)
    assert {row["id"] for row in jobs_of(queue, "a")} > {own_id}
    for text in ("select * from minutehand.tenant_roles", "delete from minutehand.tenant_roles"):
        with pytest.raises(errors.InsufficientPrivilege):
            query(bound, text)


def test_audit_trail_names_the_login_of_a_bound_role(bound: Database, queue: Queue) -> None:
    job_id, login = enqueue_as(queue, "a"), bound.connection.info.user
    promote(bound, [job_id])
    cancel(bound, [job_id], actor="root")

    assert [entry.actor for entry in list_audit(queue.database)] == [f"root ({login})", login]


def test_bound_role_is_confined_after_set_role(bound: Database, login: Login, queue: Queue) -> None:
    """One login sets the role of a tenant for each transaction."""
    own_id, _ = enqueue_as(queue, "a"), enqueue_as(queue, "b")
    login_session = login()
    execute(queue.database, "grant {} to {}", bound.connection.info.user, login_session.connection.info.user)
    with login_session.connection.transaction():
        execute(login_session, "set local role {}", bound.connection.info.user)
        assert query_as(login_session, "b", "select id from minutehand.jobs") == [(own_id,)]
        made = enqueue("echo", connection=login_session)

    assert made.id in {row["id"] for row in jobs_of(queue, "a")}


def test_tenant_is_reset_at_the_end_of_its_transaction(login: Login, queue: Queue) -> None:
    enqueue_as(queue, "b")
    operator, seen = login("operator"), "select tenant::text from minutehand.jobs order by 1"
    with operator.transaction():
        with as_tenant(operator, "a") as own:
            enqueue("echo", connection=own)
            assert query(own, seen) == [("a",)]
        assert query(operator, seen) == [("a",), ("b",)]
        with pytest.raises(ZeroDivisionError):
            fail_as(operator, "a")
        assert query(operator, seen) == [("a",), ("b",)]
    with pytest.raises(ZeroDivisionError):
        fail_as(operator, "c")

    assert query(operator, seen) == [("a",), ("b",)]
    with as_tenant(queue.database, "a"):
        assert query(queue.database, "select current_user <> session_user") == [(True,)]
    assert query(
        queue.database, "select current_user = session_user, current_setting('minutehand.tenant', true)"
    ) == [(True, "")]


def fail_as(session: Database, tenant: str) -> None:
    """Enqueue as a tenant, and fail before the commit."""
    with as_tenant(session, tenant) as own:
        enqueue("echo", connection=own)
        raise ZeroDivisionError


def test_tenant_database_applies_its_tenant_to_each_statement(login: Login, queue: Queue) -> None:
    enqueue_as(queue, "b")
    own = TenantDatabase(login("operator"), "a")
    enqueue("echo", connection=own)
    with own.transaction():
        enqueue("echo", connection=own)
        with own.transaction():
            assert len(list_jobs(own).rows) == 2

    assert [item.outcome for item in enqueue_many([NewJob("echo")] * 3, chunk=2, connection=own)] == [
        "created"
    ] * 3
    assert len(list_jobs(own).rows) == len(jobs_of(queue, "a")) == 5


def test_tenants_share_a_pooled_connection_without_leaks(servers: servers.Servers) -> None:
    """The next client of the same server process does not see settings of an earlier transaction."""
    address = servers.address("pgbouncer-18")
    database = address.make()
    try:
        take_turns(database)
    finally:
        address.drop(database)


def take_turns(database: servers.Database) -> None:
    with logins(database) as login:
        names = ("a", "b", None)
        sessions = {name: login("tenant") for name in names}
        # A pooler has one pool per login, so all sessions use this login.
        one = sessions["a"]
        processes = {name: set[int]() for name in names}
        for n in range(12):
            name = names[n % 3]
            session = Database(one._url) if n < 3 else sessions[name]
            sessions[name] = session
            if name is None:
                processes[None] |= {row[0] for row in query(session, "select pg_backend_pid()")}
                assert query(session, "select id from minutehand.jobs") == []
                continue
            with as_tenant(session, name) as own:
                enqueue("echo", {"of": name}, key="k", on_conflict="ignore", connection=own)
                processes[name] |= {row[0] for row in query(own, "select pg_backend_pid()")}
                assert [row.kind for row in list_jobs(own).rows] == ["echo"]
                assert query(own, "select payload ->> 'of' from minutehand.jobs") == [(name,)]
        for session in sessions.values():
            session.close()

    assert processes["a"] == processes["b"] == processes[None] and len(processes["a"]) == 1
