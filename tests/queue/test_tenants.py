"""Tenants: who is confined to one meets no other's rows, by no verb, no statement and no function; each is tried."""

from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from typing import Any, LiteralString
from uuid import UUID

import pytest
from psycopg import errors, sql

from minutehand import Database, InvalidJobError, KeyTakenError, NewJob, enqueue, enqueue_many
from minutehand.database.tenants import TenantDatabase, as_tenant, is_tenant
from minutehand.errors import ForbiddenError
from minutehand.finish import finish
from minutehand.model.outcome import Failed
from minutehand.operations.audit import list_audit
from minutehand.operations.deletion import delete
from minutehand.operations.jobs import cancel, promote, replay, reschedule, retry
from minutehand.queries.jobs import list_jobs, stats
from tests import servers
from tests.queue.roles import Login, logins
from tests.queue.stage import Queue

pytestmark = pytest.mark.every_server

SET_BY_HAND: LiteralString = "select set_config('minutehand.tenant', %s, true)"
ROWS: dict[str, LiteralString] = {
    "jobs": "insert into minutehand.jobs_live (tenant, kind) values (%(tenant)s, 'echo')",
    "jobs_live": "insert into minutehand.jobs_live (tenant, kind) values (%(tenant)s, 'echo')",
    "attempts": "insert into minutehand.attempts (tenant, job, attempt, started, queue, kind, outcome) "
    "values (%(tenant)s, gen_random_uuid(), 1, now(), 'default', 'echo', 'done')",
    "events": "insert into minutehand.events (tenant, name) values (%(tenant)s, 'done')",
    "schedules": "insert into minutehand.schedules (tenant, name, every, job) values (%(tenant)s, 's', '@daily', '{}')",
    "firings": "insert into minutehand.firings (tenant, schedule, nominal, outcome) "
    "values (%(tenant)s, 's', '2026-01-01', 'fired')",
    "controls": "insert into minutehand.controls (tenant, queue) values (%(tenant)s, 'default')",
    "audit": "insert into minutehand.audit (tenant, who, verb) values (%(tenant)s, 'ada', 'cancel')",
}  # fmt: skip


@pytest.fixture
def login(database: servers.Database) -> Iterator[Login]:
    with logins(database) as login:
        yield login


@pytest.fixture
def tenant(login: Login) -> Database:
    """A session of a login that is a tenant's, which has not said yet whose it is."""
    return login("tenant")


def ask(session: Database, text: str, *parameters: object) -> list[Any]:
    """Ask in a transaction of its own, past the library."""
    cursor = session.connection.execute(text.encode(), parameters or None)
    return cursor.fetchall() if cursor.description else []


def execute(session: Database, text: LiteralString, *names: str) -> None:
    """Do what takes names in place of parameters."""
    session.connection.execute(sql.SQL(text).format(*map(sql.Identifier, names)))


def ask_as(session: Database, tenant: str, text: str) -> list[Any]:
    """Ask in a transaction that says a tenant by hand, past the library."""
    with session.connection.transaction():
        session.connection.execute(SET_BY_HAND, [tenant])
        return ask(session, text)


def given(queue: Queue, tenant: str, **options: Any) -> UUID:
    """A job of a tenant, enqueued in a session of the owner's."""
    with as_tenant(queue.database, tenant) as own:
        return enqueue("echo", connection=own, **options).id


def whole(queue: Queue, tenant: str) -> list[Any]:
    return queue.sql("select * from minutehand.jobs where tenant = %(tenant)s order by id", tenant=tenant)


@pytest.mark.parametrize("role", ["operator", None])
def test_what_is_done_to_a_tenants_job_by_who_sees_all_is_in_that_tenants_trail(
    login: Login, queue: Queue, role: str | None
) -> None:
    desk = login(role) if role else queue.database
    dead, running = queue.claimed(tenant="a", max_attempts=1), queue.claimed(tenant="a")
    finish(dead, Failed({"type": "ValueError", "message": "no", "trace": ""}))
    own, other, nobodys = given(queue, "a"), given(queue, "b"), queue.enqueue(delay=timedelta(days=1))
    promote(desk, [own, other, nobodys], actor="ada")
    cancel(desk, [running.id], running=True, actor="ada")
    replay(desk, [dead.id], actor="ada")
    delete(desk, [own], actor="ada")

    trail = {
        tenant: {(entry.job, entry.verb) for entry in list_audit(TenantDatabase(queue.database, tenant))}
        for tenant in ("a", "b")
    }
    assert trail["a"] == {
        (own, "promote"), (running.id, "cancel_running"), (dead.id, "replay"), (own, "delete"),
    }  # fmt: skip
    assert trail["b"] == {(other, "promote")}
    assert [entry.tenant for entry in list_audit(desk, job=nobodys)] == [""]


@pytest.mark.parametrize("table", ROWS)
@pytest.mark.parametrize("role", ["tenant", "operator"])
def test_of_every_table_a_tenant_meets_its_own_rows_only(
    login: Login, queue: Queue, table: str, role: str
) -> None:
    session = login(role)
    for owner in ("a", "b", ""):
        queue.sql(ROWS[table], tenant=owner)
    seen = f"select distinct tenant::text from minutehand.{table} order by 1"

    assert ask_as(session, "a", seen) == [("a",)]
    assert ask_as(session, "b", seen) == [("b",)]
    assert ask_as(session, "c", seen) == []
    assert ask(session, seen) == ([] if role == "tenant" else [("",), ("a",), ("b",)])
    with as_tenant(session, "b") as own:
        assert ask(own, seen) == [("b",)]


def test_every_table_with_a_tenant_is_guarded_and_no_other_is_open_to_one(queue: Queue) -> None:
    """A new table is either a tenant's, and has its policies, or no tenant may touch it."""
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
    assert {name for name, may in unowned.items() if may} == {"new_jobs", "migrations", "schema_files"}
    assert (unowned["new_jobs"], unowned["migrations"]) == (["insert"], ["select"])
    assert {row["name"] for row in tables if row["owned"] and not row["guarded"]} == {
        "new_jobs",
        "tenant_roles",
    }
    for row in tables:
        guards = ["minutehand_operator", "minutehand_tenant", "minutehand_worker"] if row["guarded"] else []
        assert row["policies"] == guards, row["name"]


def test_a_day_is_closed_to_who_asks_it_by_its_name(login: Login, queue: Queue) -> None:
    days = queue.sql(
        """select relname::text as name, relrowsecurity as guarded from pg_class
            where relnamespace = 'minutehand'::regnamespace and relkind = 'r' and relname ~ '_[0-9]{8}$'"""
    )

    assert len(days) > 7
    assert [day["name"] for day in days if not day["guarded"]] == []


def test_without_a_tenant_its_role_sees_and_enqueues_nothing(tenant: Database, queue: Queue) -> None:
    job_id = given(queue, "a")
    nobodys = queue.enqueue()

    assert list_jobs(tenant).rows == () and stats(tenant) == []
    assert [each.outcome for each in cancel(tenant, [job_id, nobodys])] == ["absent", "absent"]
    sayings: list[dict[str, Any]] = [{}, {"tenant": "a"}, {"tenant": ""}]
    for say in sayings:
        with pytest.raises(InvalidJobError) as refused:
            enqueue("echo", connection=tenant, **say)
        assert refused.value.rule == "tenant_is_set"
    assert [item.outcome for item in enqueue_many([NewJob("echo")], connection=tenant)] == ["rejected"]
    assert len(queue.sql("select id from minutehand.jobs")) == 2


@pytest.mark.parametrize("role", ["tenant", "operator", "enqueuer"])
def test_what_is_enqueued_as_a_tenant_is_its_own_and_never_anothers(
    login: Login, queue: Queue, role: str
) -> None:
    session = login(role)
    own = TenantDatabase(session, "a")
    one = enqueue("echo", connection=own)
    said = enqueue("echo", tenant="a", connection=own)
    many = [*enqueue_many([NewJob("echo"), NewJob("echo", tenant="a")], connection=own)]
    rejected = [*enqueue_many([NewJob("echo", tenant="b"), NewJob("echo")], connection=own)]
    for other in ("b", ""):
        with pytest.raises(InvalidJobError) as refused:
            enqueue("echo", tenant=other, connection=own)
        assert refused.value.rule == "tenant_is_own"

    assert [item.outcome for item in rejected] == ["rejected", "created"]
    assert {row["id"] for row in whole(queue, "a")} == {
        one.id, said.id, *(item.id for item in many), rejected[1].id,  # type: ignore[union-attr]
    }  # fmt: skip
    assert whole(queue, "b") == whole(queue, "") == []


def test_an_enqueuer_says_of_each_job_whose_it_is(login: Login, queue: Queue) -> None:
    enqueuer = login("enqueuer")
    made = {owner: enqueue("echo", tenant=owner, connection=enqueuer).id for owner in ("a", "b")}

    assert [{row["id"] for row in whole(queue, owner)} for owner in made] == [{made["a"]}, {made["b"]}]
    assert enqueue("echo", connection=enqueuer).id == whole(queue, "")[0]["id"]


@pytest.mark.parametrize("on_conflict", ["replace", "ignore", "raise"])
def test_a_key_of_another_tenant_is_no_conflict_and_is_not_learnt_of(
    tenant: Database, queue: Queue, on_conflict: Any
) -> None:
    theirs = given(queue, "b", payload="theirs", key="k", delay=timedelta(hours=1))
    nobodys = queue.enqueue(payload="nobody's", key="k", delay=timedelta(hours=1))
    before = [whole(queue, "b"), whole(queue, "")]
    with as_tenant(tenant, "a") as own:
        made = enqueue("echo", "mine", key="k", on_conflict=on_conflict, connection=own)
        (many,) = enqueue_many([NewJob("echo", key="l")], on_conflict=on_conflict, connection=own)

    assert made.outcome == many.outcome == "created"
    assert made.id not in (theirs, nobodys)
    assert [whole(queue, "b"), whole(queue, "")] == before


def test_a_key_of_its_own_is_a_conflict(tenant: Database) -> None:
    with as_tenant(tenant, "a") as own:
        first = enqueue("echo", key="k", connection=own)
        assert enqueue("echo", key="k", connection=own).id == first.id
        with pytest.raises(KeyTakenError):
            enqueue("echo", key="k", on_conflict="raise", connection=own)


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
def test_changes_by_hand_find_no_job_of_another(login: Login, queue: Queue, role: str) -> None:
    theirs, nobodys = given(queue, "b"), queue.enqueue()
    queue.sql("update minutehand.jobs set deleted = now(), failed = true where tenant = ''")
    mine = given(queue, "a")
    before = [whole(queue, "b"), whole(queue, "")]
    with as_tenant(login(role), "a") as own:
        assert change_all(own, [theirs, nobodys]) == [["absent"] * 2] * 4
        assert [whole(queue, "b"), whole(queue, "")] == before
        assert change_all(own, [mine]) == [["changed"]] * 4


def test_an_update_past_the_library_reaches_its_own_rows_only_and_gives_none_away(
    tenant: Database, queue: Queue
) -> None:
    for owner in ("a", "b"):
        given(queue, owner)
    before = whole(queue, "b")

    ask_as(
        tenant,
        "a",
        "update minutehand.jobs set visible = now() + interval '1 year', deleted = now(), failed = true",
    )
    assert whole(queue, "b") == before
    ask_as(tenant, "a", "delete from minutehand.jobs")
    assert (whole(queue, "a"), whole(queue, "b")) == ([], before)
    for text in (
        "update minutehand.jobs set tenant = 'b'",
        "insert into minutehand.jobs_live (kind, tenant) values ('echo', 'b')",
    ):
        with pytest.raises(errors.InsufficientPrivilege):
            ask_as(tenant, "a", text)


def test_a_function_in_a_query_is_shown_no_row_of_another(tenant: Database, queue: Queue) -> None:
    """A condition that costs nothing is asked first, unless the policy's goes before it."""
    given(queue, "b", payload="theirs")
    given(queue, "a", payload="mine")
    shown: list[str] = []
    tenant.connection.add_notice_handler(lambda notice: shown.append(notice.message_primary or ""))
    with tenant.connection.transaction():
        ask(tenant, "create function pg_temp.peep(text) returns boolean language plpgsql cost 0.0000001 as "
                    "$$ begin raise notice '%', $1; return true; end $$")  # fmt: skip
        tenant.connection.execute(SET_BY_HAND, ["a"])
        ask(tenant, "select id from minutehand.jobs where pg_temp.peep(payload::text)")

    assert shown == ['"mine"']


# Functions that run with the owner's rights, which no policy holds, and that a tenant may call. Each asks whose the
# session is, or tells nothing of any job: say which in a review before you add one, and try it below.
OWNERS_FUNCTIONS = {
    "current_tenant", "enqueue_all", "enqueue_incoming", "fire", "fitting", "keep_events", "lapse", "queues_seen",
    "withdraw_ahead",
}  # fmt: skip


def test_no_function_with_its_owners_rights_is_open_to_a_tenant_unless_it_was_looked_at(queue: Queue) -> None:
    found = queue.sql(
        """select distinct proname::text as name from pg_proc where pronamespace = 'minutehand'::regnamespace
              and prosecdef and has_function_privilege('minutehand_tenant', oid, 'execute')"""
    )

    assert {row["name"] for row in found} == OWNERS_FUNCTIONS


FORGED: list[LiteralString] = [
    """select * from minutehand.fire(
           '[{"tenant": "b", "schedule": "s", "nominal": "2026-02-01", "outcome": "skipped", "count": 1}]')""",
    """select * from minutehand.fire(
           '[{"tenant": "b", "schedule": "s", "nominal": "2026-02-01", "outcome": "fired", "count": 1}]')""",
    "select minutehand.withdraw_ahead('b', 's', '2020-01-01')",
    """select minutehand.keep_events(
           '[{"id": "01a1fe30-d3a6-7c72-8ab3-9322193cd77e", "tenant": "b", "name": "done"}]')""",
    """select minutehand.lapse(json_populate_record(null::minutehand.jobs,
           '{"id": "01a1fe30-d3a6-7c72-8ab3-9322193cd77e", "tenant": "b", "queue": "q", "kind": "k"}'), 1, now())""",
    "select * from minutehand.enqueue('echo', key => 'k', tenant => 'b')",
    "insert into minutehand.new_jobs (load, ordinal, kind, tenant) values (gen_random_uuid(), 1, 'echo', 'b')",
]


@pytest.mark.parametrize("session_of", ["a", None])
@pytest.mark.parametrize("text", FORGED)
def test_a_function_with_its_owners_rights_does_nothing_to_another_tenant(
    tenant: Database, queue: Queue, text: str, session_of: str | None
) -> None:
    theirs = given(queue, "b", key="k", delay=timedelta(hours=1))
    queue.sql(ROWS["schedules"], tenant="b")
    queue.sql("insert into minutehand.firings (tenant, schedule, nominal, outcome, job) "
              "values ('b', 's', '2026-01-01', 'fired', %(job)s)", job=theirs)  # fmt: skip
    every = ("jobs", "attempts", "events", "schedules", "firings")
    before = {table: queue.sql(ALL_OF[table]) for table in every}
    with suppress(errors.CheckViolation):
        ask_as(tenant, session_of, text) if session_of else ask(tenant, text)

    assert {table: queue.sql(ALL_OF[table]) for table in every} == before


ALL_OF: dict[str, LiteralString] = {
    "jobs": "select * from minutehand.jobs where tenant = 'b'",
    "attempts": "select * from minutehand.attempts where tenant = 'b'",
    "events": "select * from minutehand.events where tenant = 'b'",
    "schedules": "select * from minutehand.schedules where tenant = 'b'",
    "firings": "select * from minutehand.firings where tenant = 'b'",
}


def test_workers_serve_every_tenant(login: Login, queue: Queue) -> None:
    ids = {given(queue, owner) for owner in ("a", "b")} | {queue.enqueue()}

    assert {job.id for job in queue.take(10, database=login("worker"))} == ids


def test_a_login_that_no_policy_holds_is_confined_all_the_same(login: Login, queue: Queue) -> None:
    """The owner of a small installation, and the one login of a stack whose functions share it."""
    theirs = given(queue, "b")
    mine = given(queue, "a")
    shared = login("worker")
    execute(queue.database, "grant minutehand_operator to {}", shared.connection.info.user)
    for session in (queue.database, shared):
        with as_tenant(session, "a") as own:
            assert [row.id for row in list_jobs(own).rows] == [mine]
            assert [each.outcome for each in cancel(own, [theirs])] == ["absent"]
        assert len(list_jobs(session).rows) == 2


def test_a_login_that_can_not_be_confined_is_refused(login: Login, queue: Queue) -> None:
    given(queue, "b")

    with pytest.raises(ForbiddenError, match="cannot act as a tenant"), as_tenant(login("worker"), "a"):
        raise AssertionError("it was let in")


@pytest.fixture
def bound(login: Login, queue: Queue) -> Database:
    """A login of the tenant a, by the table of roles."""
    session = login("tenant")
    queue.sql("insert into minutehand.tenant_roles values (%(role)s, 'a')", role=session.connection.info.user)
    return session


def test_a_role_that_is_bound_has_its_tenant_whatever_its_session_says(bound: Database, queue: Queue) -> None:
    mine, theirs = given(queue, "a"), given(queue, "b")
    seen = "select id from minutehand.jobs"

    assert ask(bound, seen) == ask_as(bound, "b", seen) == [(mine,)]
    with bound.connection.transaction():
        ask(bound, "set local role minutehand_tenant")
        assert ask_as(bound, "b", seen) == [(mine,)]
    with pytest.raises(ForbiddenError, match="is bound to tenant a"), as_tenant(bound, "b"):
        pass
    with pytest.raises(InvalidJobError) as refused:
        enqueue("echo", tenant="b", connection=bound)
    assert refused.value.rule == "tenant_is_own"
    assert [each.outcome for each in cancel(bound, [theirs])] == ["absent"]
    with as_tenant(bound, "a") as own:
        enqueue("echo", connection=own)
    assert {row["id"] for row in whole(queue, "a")} > {mine}
    for text in ("select * from minutehand.tenant_roles", "delete from minutehand.tenant_roles"):
        with pytest.raises(errors.InsufficientPrivilege):
            ask(bound, text)


def test_a_role_that_is_bound_stays_so_for_who_becomes_it(
    bound: Database, login: Login, queue: Queue
) -> None:
    """One login at the door, and a role for each tenant behind it, that it sets for the transaction."""
    mine, _ = given(queue, "a"), given(queue, "b")
    door = login()
    execute(queue.database, "grant {} to {}", bound.connection.info.user, door.connection.info.user)
    with door.connection.transaction():
        execute(door, "set local role {}", bound.connection.info.user)
        assert ask_as(door, "b", "select id from minutehand.jobs") == [(mine,)]
        made = enqueue("echo", connection=door)

    assert made.id in {row["id"] for row in whole(queue, "a")}


def test_a_tenant_goes_with_its_transaction_however_that_ends(login: Login, queue: Queue) -> None:
    given(queue, "b")
    operator, seen = login("operator"), "select tenant::text from minutehand.jobs order by 1"
    with operator.transaction():
        with as_tenant(operator, "a") as own:
            enqueue("echo", connection=own)
            assert ask(own, seen) == [("a",)]
        assert ask(operator, seen) == [("a",), ("b",)]
        with pytest.raises(ZeroDivisionError):
            fail_as(operator, "a")
        assert ask(operator, seen) == [("a",), ("b",)]
    with pytest.raises(ZeroDivisionError):
        fail_as(operator, "c")

    assert ask(operator, seen) == [("a",), ("b",)]
    with as_tenant(queue.database, "a"):
        assert ask(queue.database, "select current_user <> session_user") == [(True,)]
    assert ask(
        queue.database, "select current_user = session_user, current_setting('minutehand.tenant', true)"
    ) == [(True, "")]


def fail_as(session: Database, tenant: str) -> None:
    """Enqueue as a tenant, and fail before the end."""
    with as_tenant(session, tenant) as own:
        enqueue("echo", connection=own)
        raise ZeroDivisionError


def test_each_statement_of_a_tenants_database_is_the_tenants_in_a_transaction_or_not(
    login: Login, queue: Queue
) -> None:
    given(queue, "b")
    own = TenantDatabase(login("operator"), "a")
    enqueue("echo", connection=own)
    with own.transaction():
        enqueue("echo", connection=own)
        with own.transaction():
            assert len(list_jobs(own).rows) == 2

    assert [item.outcome for item in enqueue_many([NewJob("echo")] * 3, chunk=2, connection=own)] == [
        "created"
    ] * 3
    assert len(list_jobs(own).rows) == len(whole(queue, "a")) == 5


def test_two_tenants_take_turns_on_one_connection_of_a_pooler(servers: servers.Servers) -> None:
    """Whatever a transaction said is gone when the next client is given the same server process."""
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
        one = sessions["a"]  # the pooler has a pool for each login: all go through this one's
        processes = {name: set[int]() for name in names}
        for n in range(12):
            name = names[n % 3]
            session = Database(one._url) if n < 3 else sessions[name]
            sessions[name] = session
            if name is None:
                processes[None] |= {row[0] for row in ask(session, "select pg_backend_pid()")}
                assert ask(session, "select id from minutehand.jobs") == []
                continue
            with as_tenant(session, name) as own:
                enqueue("echo", {"of": name}, key="k", on_conflict="ignore", connection=own)
                processes[name] |= {row[0] for row in ask(own, "select pg_backend_pid()")}
                assert [row.kind for row in list_jobs(own).rows] == ["echo"]
                assert ask(own, "select payload ->> 'of' from minutehand.jobs") == [(name,)]
        for session in sessions.values():
            session.close()

    assert processes["a"] == processes["b"] == processes[None] and len(processes["a"]) == 1


@pytest.mark.parametrize(
    "name",
    [
        "a",
        "A1",
        "acme.eu",
        "7",
        "a:b@c_d-e",
        "x" * 100,
        "",
        " ",
        "-a",
        "a b",
        "ä",
        "a\n",
        "x" * 101,
        "a'",
        "a\0",
    ],
)
def test_a_tenants_name_is_one_in_python_as_in_the_database(direct_queue: Queue, name: str) -> None:
    if "\0" not in name and name:
        try:
            direct_queue.sql("select %(name)s::minutehand.tenant", name=name)
            there = True
        except errors.CheckViolation:
            there = False
        assert there == is_tenant(name)
    if is_tenant(name):
        with as_tenant(direct_queue.database, name) as own:
            enqueue("echo", connection=own)
    else:
        with pytest.raises(InvalidJobError) as refused, as_tenant(direct_queue.database, name):
            pass
        assert refused.value.rule == "tenant_is_a_name"


def test_a_tenant_is_set_in_sql_as_well(tenant: Database, queue: Queue) -> None:
    with tenant.connection.transaction():
        ask(tenant, "select minutehand.as_tenant('a')")
        ask(tenant, "select * from minutehand.enqueue('echo')")
    with pytest.raises(errors.CheckViolation), tenant.connection.transaction():
        ask(tenant, "select minutehand.as_tenant('')")

    assert len(whole(queue, "a")) == 1
