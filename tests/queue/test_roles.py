"""Who may do what: real sessions of real logins do all that their role is for, and try all that it is not for."""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from typing import Any, LiteralString

import psycopg
import pytest
from psycopg import errors, sql

from minutehand import Database, NewJob, Snooze, enqueue, enqueue_many
from minutehand.claim import claim
from minutehand.database.statements import statement, statement_names
from minutehand.errors import ForbiddenError, UnreachableError
from minutehand.handlers import HandlerTable
from minutehand.maintenance import check_health, run_maintenance
from minutehand.operations.defaults import Defaults, list_defaults, set_defaults
from minutehand.operations.deletion import count_finished, delete_finished
from minutehand.operations.jobs import cancel, promote, reschedule, retry
from minutehand.queries.jobs import get, list_jobs, stats
from minutehand.schema.migrate import check_schema
from minutehand.work import run_jobs
from tests import servers
from tests.queue.roles import Login, logins
from tests.queue.stage import GRACE, LEASE, Queue

pytestmark = pytest.mark.every_version

ROLES = ("enqueuer", "worker", "operator", "tenant")
DESK = ("operator", "tenant")  # an operator of all, and one within a tenant

# Who may run each statement; what nobody may is the owner's.
MAY: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        ["as_tenant", "clock", "copy_incoming", "enqueue", "enqueue_incoming", "examine_process", "examine_roles",
         "examine_server", "examine_snapshots", "health", "leave_tenant", "lock_schedules",
         "migration_files", "migration_known", "migration_status", "store_events"],
        ROLES,
    ),
    **dict.fromkeys(
        ["adjust_budgets", "cancel_lapsed", "claim", "extend", "finish", "free_keys", "give_back", "make_days",
         "offer", "prune_firings", "raise_floor", "reap", "retain", "start_sweep", "start_tick",
         "supersede", "sweep", "take", "withdraw"],
        ("worker",),
    ),
    "count_due": ("worker", "operator"),
    # Dispatchers fire schedules, and workers may read what they finish; to finish a job is to be able to cancel it.
    **dict.fromkeys(
        ["advance_schedules", "cancel", "check_claim", "count_finished", "count_jobs", "count_upcoming",
         "due_schedules", "encrypted_payloads", "fire", "get", "get_by_key", "get_schedule", "get_states",
         "get_unfinished", "histogram", "list_controls", "list_enqueued", "list_firings", "list_jobs",
         "list_newer_jobs", "list_schedules", "outdated_payloads", "outdated_schedules", "pause_schedule",
         "remove_schedule", "replace_schedule_payload", "replay", "save_schedule", "spent_recurring",
         "stats", "today", "withdraw_ahead"],
        ("worker", *DESK),
    ),
    **dict.fromkeys(
        ["cancel_running", "delete", "delete_finished", "delete_upcoming", "durations", "edit", "failures",
         "find_finished", "list_attempts", "list_audit", "list_events", "list_queues", "promote",
         "recall_offers", "record_audit", "replace_payloads", "reschedule", "retry"],
        DESK,
    ),
    **dict.fromkeys(
        ["end_control", "examine_queue", "get_keep_until_archived", "hold_ticks", "list_defaults", "list_retention",
         "set_control", "set_defaults", "set_keep_until_archived", "set_queue_defaults", "set_retention"],
        ("operator",),
    ),
}  # fmt: skip

NOBODYS: list[LiteralString] = [
    "create table minutehand.evil ()",
    "create function minutehand.evil() returns integer language sql as 'select 1'",
    "create index on minutehand.jobs_live (kind)",
    "create trigger evil after insert on minutehand.jobs_live execute function minutehand.lower_floor()",
    "create rule evil as on insert to minutehand.jobs_live do nothing",
    "alter table minutehand.jobs_live add column evil text",
    "alter table minutehand.jobs_live disable trigger user",
    "alter table minutehand.jobs_done detach partition minutehand.jobs_done_default",
    "alter function minutehand.make_days(integer, date) security invoker",
    "alter schema minutehand rename to evil",
    "drop table minutehand.jobs_done_default",
    "drop table minutehand.lanes",
    "drop schema minutehand cascade",
    "truncate minutehand.jobs",
    "truncate minutehand.new_jobs",
    "insert into minutehand.jobs_live (kind) values ('evil')",
    "insert into minutehand.jobs (kind, deleted) values ('evil', now())",
    "insert into minutehand.migrations values (99, 'evil', 'evil')",
    "insert into minutehand.schema_files values ('evil', 'evil', '{}')",
    "update minutehand.jobs_live set payload = '1'",
    "update minutehand.jobs set tenant = 'evil'",
    "update minutehand.jobs_live set tenant = 'evil'",
    "update minutehand.jobs set kind = 'evil'",
    "update minutehand.jobs set id = gen_random_uuid()",
    "update minutehand.jobs_live set max_attempts = 1",
    "update minutehand.settings set max_payload = 1",
    "update minutehand.new_jobs set kind = 'evil'",
    "delete from minutehand.jobs_live",
    "delete from minutehand.lanes",
    "delete from minutehand.dispatcher",
    "delete from minutehand.defaults",
    "select * from minutehand.new_jobs",
    "select minutehand.make_days(100000)",
    "select minutehand.make_days(0, '2030-01-01')",
    "select minutehand.make_days(-1, null)",
    "select minutehand.upcoming('', 'default', 'key', 'replace')",
    "select minutehand.check_new(null, 'replace')",
    "select minutehand.grant_roles()",
    "select minutehand.make_policies('minutehand_tenant')",
    "select minutehand.check_tenants(null)",
    "select * from minutehand.tenant_roles",
    "insert into minutehand.tenant_roles values (current_user, 'evil')",
    "alter table minutehand.jobs disable row level security",
    "drop policy minutehand_tenant on minutehand.jobs",
    "create policy evil on minutehand.jobs to public using (true)",
    "alter policy minutehand_tenant on minutehand.jobs using (true)",
    "delete from minutehand.audit",
    "update minutehand.audit set who = 'evil'",
    "delete from minutehand.attempts",
    "delete from minutehand.events",
    "select minutehand.hand_over(current_user)",
    "set role minutehand_migrator",
    "set role postgres",
    "grant minutehand_migrator to current_user",
]
# What only some may, in more ways than the statements'.
SOMEBODYS: dict[LiteralString, tuple[str, ...]] = {
    "select payload from minutehand.jobs": ("worker", *DESK),
    "select result, headers from minutehand.jobs": ("worker", *DESK),
    "select minutehand.state(j) from minutehand.jobs j": ("worker", *DESK),
    "select payload from minutehand.jobs_live": ("worker", *DESK),
    "select payload from minutehand.jobs_done_default": ("operator",),
    "select from minutehand.jobs_live": ("worker", *DESK),
    "update minutehand.jobs set payload = '1'": DESK,
    "update minutehand.jobs set kind = 'evil'": (),
    "delete from minutehand.jobs": DESK,
    "insert into minutehand.attempts default values": ("worker",),
    "insert into minutehand.audit (who, verb) values ('a', 'b')": DESK,
    "insert into minutehand.events (name) values ('done')": (),
    "insert into minutehand.controls (queue, paused) values ('default', true)": ("operator",),
    "delete from minutehand.schedules": ("worker", *DESK),
    "insert into minutehand.defaults (kind) values ('evil')": ("operator",),
    "insert into minutehand.queue_defaults (queue) values ('evil')": ("operator",),
    "insert into minutehand.retention (what) values ('done')": ("operator",),
    "select * from minutehand.settings": ("operator",),
    "update minutehand.settings set keep_until_archived = true": ("operator",),
    "select * from minutehand.lanes": ("worker", "operator"),
    "select * from minutehand.defaults": ("operator",),
    "update minutehand.dispatcher set ticked = now()": ("worker",),
    "update minutehand.lanes set floor = now()": ("worker",),
    "update minutehand.lanes set queue = 'evil'": (),
    "select minutehand.make_days_ahead()": ("worker",),
    "select minutehand.retain_now()": ("worker",),
    "select minutehand.retain()": (),
    "select minutehand.hold_ticks()": ("operator",),
}  # fmt: skip


@pytest.fixture
def login(database: servers.Database) -> Iterator[Login]:
    with logins(database) as login:
        yield login


def may(session: Database, text: str, parameters: dict[str, object] | None = None) -> bool:
    """Say whether a role may do it, whatever else becomes of it, and undo it."""
    connection = session.connection
    try:
        with connection.transaction(force_rollback=True):
            connection.execute(text.encode(), parameters)
    except errors.InsufficientPrivilege:
        return False
    except (errors.SyntaxError, errors.UndefinedObject, errors.UndefinedTable):
        raise
    except psycopg.Error:
        pass  # it may, and has another reason not to
    return True


@pytest.mark.parametrize("role", ROLES)
def test_a_role_may_run_its_statements_and_no_other(login: Login, role: str) -> None:
    session = login(role)

    allowed = {
        name
        for name in MAY
        if name != "copy_incoming"
        and may(session, statement(name), dict.fromkeys(re.findall(r"%\((\w+)\)", statement(name))))
    }

    assert allowed == {name for name, roles in MAY.items() if role in roles} - {"copy_incoming"}


def test_somebody_without_a_role_may_run_nothing_that_touches_the_schema(login: Login) -> None:
    session = login()

    allowed = {
        name
        for name in MAY
        if may(session, statement(name), dict.fromkeys(re.findall(r"%\((\w+)\)", statement(name))))
    }

    assert allowed <= {
        "clock",
        "examine_process",
        "examine_server",
        "examine_snapshots",
        "health",
        "leave_tenant",
        "lock_schedules",
        "migration_known",
    }


def test_of_every_statement_it_is_said_who_may_run_it() -> None:
    assert statement_names() == {*MAY}


@pytest.mark.parametrize("role", ROLES)
def test_what_nobody_may_is_refused(login: Login, role: str) -> None:
    session = login(role)

    assert [text for text in NOBODYS if may(session, text)] == []


@pytest.mark.parametrize("role", ROLES)
def test_what_some_may_is_refused_to_the_others(login: Login, role: str) -> None:
    session = login(role)

    assert {text for text in SOMEBODYS if may(session, text)} == {
        text for text, roles in SOMEBODYS.items() if role in roles
    }


@pytest.mark.parametrize("role", ["enqueuer", "worker", "operator"])
def test_every_role_enqueues_in_every_way(login: Login, role: str, queue: Queue) -> None:
    session = login(role)
    made = enqueue("echo", {"n": 1}, key="a", connection=session)
    again = enqueue("echo", {"n": 2}, key="a", on_conflict="ignore", connection=session)
    late = enqueue("echo", run_at=datetime(2020, 1, 1, tzinfo=UTC), connection=session)
    many = list(
        enqueue_many([NewJob("echo", n, queue="new", priority=9) for n in range(3)], connection=session)
    )
    check_schema(session)

    assert [made.outcome, again.outcome, late.outcome] == ["created", "ignored", "created"]
    assert [item.outcome for item in many] == ["created"] * 3
    assert queue.row(made.id).payload == {"n": 1}


def test_a_worker_does_all_that_dispatchers_and_workers_do(login: Login, queue: Queue) -> None:
    worker = login("worker")

    def snooze(_payload) -> None:
        raise Snooze(timedelta(0))

    def effect(_payload, job) -> None:
        with job.transaction():
            job.result = "kept"
            enqueue("next", connection=worker)

    def newer(_payload, job) -> None:
        job.extend(timedelta(minutes=5))
        enqueue("newer", key="k", delay=timedelta(hours=1), connection=worker)
        raise ValueError("try again")

    kinds: dict[str, Callable[..., Any]] = {
        "ok": lambda _: 1,
        "fails": lambda _: 1 / 0,
        "snoozes": snooze,
        "effect": effect,
        "newer": newer,
    }
    for kind in kinds:
        queue.enqueue(kind, key="k" if kind == "newer" else None)
    queue.enqueue("dies", max_attempts=1)
    offers = queue.offer(database=worker)
    jobs = claim(worker, list(offers), LEASE, GRACE)
    dying = [job for job in jobs if job.kind == "dies"]
    endings = run_jobs([job for job in jobs if job not in dying], HandlerTable(kinds), stopping=lambda: False)
    queue.pass_time(dying[0].id)
    report = run_maintenance(worker, datetime.now(UTC) + timedelta(minutes=11))

    assert sorted(ending.ending for ending in endings) == [
        "done",
        "done",
        "retrying",
        "snoozed",
        "superseded",
    ]
    assert [record["kind"] for record in report.reaped] == ["dies"]
    assert report.swept
    assert queue.take(10, database=worker)


def test_an_operator_does_all_that_the_api_and_the_command_line_do(login: Login, queue: Queue) -> None:
    operator = login("operator")
    ids = [queue.enqueue(payload=n, delay=timedelta(hours=1)) for n in range(5)]
    [running, cancelled, retried, promoted, moved] = ids
    promote(operator, [running])
    queue.take()

    assert [change.outcome for change in cancel(operator, [running, cancelled, retried])] == [
        "refused", "changed", "changed",
    ]  # fmt: skip
    assert [change.outcome for change in retry(operator, [retried])] == ["changed"]
    assert [change.outcome for change in promote(operator, [promoted])] == ["changed"]
    assert [change.outcome for change in reschedule(operator, [moved], delay=timedelta(days=1))] == [
        "changed"
    ]
    assert get(operator, moved).payload == 4
    assert len(list_jobs(operator).rows) == 5
    assert {depth.state for depth in stats(operator)} == {"running", "cancelled", "due", "scheduled"}
    set_defaults(operator, Defaults(kind="echo", priority=1))
    set_defaults(operator, Defaults(kind="echo", priority=2))
    assert [each.priority for each in list_defaults(operator)] == [2]
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    assert count_finished(operator, tomorrow) == sum(delete_finished(operator, tomorrow)) == 1


def test_a_worker_counts_the_connections_of_others_too(direct_database: servers.Database) -> None:
    with logins(direct_database) as login, ExitStack() as others:
        for _ in range(5):
            others.enter_context(psycopg.connect(direct_database.admin_url))
        (most,) = others.enter_context(psycopg.connect(direct_database.admin_url)).execute(MOST).fetchone()  # type: ignore[misc]

        assert check_health(login("worker")).connections_percent >= 500 // most


MOST = "select current_setting('max_connections')::integer"


@pytest.mark.parametrize("role", ROLES)
def test_what_a_role_may_not_do_comes_as_an_error_of_ours(login: Login, role: str) -> None:
    with (
        pytest.raises(ForbiddenError, match="the database role may not do this"),
        login(role).transaction() as connection,
    ):
        connection.execute("insert into minutehand.migrations values (99, 'evil', 'evil')")


def test_nothing_of_the_same_name_earlier_on_the_path_leads_a_function_astray(
    login: Login, queue: Queue, database: servers.Database
) -> None:
    """A definer's function that looked its names up on the caller's path would run the caller's own."""
    session = login("enqueuer")
    evil = sql.Identifier(f"evil_{session.connection.info.user}")
    path = sql.SQL("{}, pg_temp, minutehand, pg_catalog").format(evil)
    with psycopg.connect(database.admin_url, autocommit=True) as admin:
        admin.execute(
            sql.SQL("create schema {} authorization {}").format(
                evil, sql.Identifier(session.connection.info.user)
            )
        )
    with session.transaction() as connection:
        connection.execute(sql.SQL("set local search_path = {}").format(path))
        for text in SHADOWS:
            connection.execute(sql.SQL(text).format(evil))
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
    " $$ begin raise 'astray'; end $$",
    "create function {}.now() returns timestamptz language plpgsql as $$ begin raise 'astray'; end $$",
    "create function {}.uuid7() returns uuid language plpgsql as $$ begin raise 'astray'; end $$",
    "create function {}.refuse(text, text, text) returns void language plpgsql as"
    " $$ begin raise 'astray'; end $$",
    "create function {}.octet_length(text) returns integer language plpgsql as"
    " $$ begin raise 'astray'; end $$",
    "create function {}.unnest(minutehand.new_jobs[]) returns setof minutehand.new_jobs language plpgsql as"
    " $$ begin raise 'astray'; end $$",
    "create function {}.equal(text, text) returns boolean language plpgsql as"
    " $$ begin raise 'astray'; end $$",
    "create operator {}.= (leftarg = text, rightarg = text, function = equal)",
]


def test_a_trigger_of_ones_own_cannot_borrow_the_functions_of_the_schema(login: Login) -> None:
    session = login("enqueuer")
    with session.transaction() as connection:
        connection.execute("create temporary table mine (queue text, priority integer, visible timestamptz)")
        with pytest.raises(errors.InsufficientPrivilege), connection.transaction():
            connection.execute(
                "create trigger borrowed after insert on mine for each row execute function minutehand.lower_floor()"
            )
        connection.execute("drop table mine")


def test_what_an_operator_lost_the_grants_give_back_whichever_migration_said_it(queue: Queue) -> None:
    """A role that is made after a migration has nothing but what they give."""
    run = queue.database.connection.execute
    run("select minutehand.grant_roles()")
    before = run(MAY_OF_OPERATOR).fetchall()
    run("revoke all on all tables in schema minutehand from minutehand_operator")
    run("revoke all on all functions in schema minutehand from minutehand_operator")
    lost = run(MAY_OF_OPERATOR).fetchall()
    run("select minutehand.grant_roles()")

    assert len(before) > len(lost) + 40
    assert run(MAY_OF_OPERATOR).fetchall() == before


MAY_OF_OPERATOR = """
select c.oid::regclass::text as thing, a.privilege_type
  from pg_class c, aclexplode(c.relacl) a
 where c.relnamespace = 'minutehand'::regnamespace and a.grantee = 'minutehand_operator'::regrole
 union
select p.oid::regprocedure::text, a.privilege_type
  from pg_proc p, aclexplode(p.proacl) a
 where p.pronamespace = 'minutehand'::regnamespace and a.grantee = 'minutehand_operator'::regrole
 order by 1, 2
"""


def test_the_grants_given_twice_are_the_same(queue: Queue) -> None:
    grants: LiteralString = """
        select relname::text as name, relacl::text as acl from pg_class where relnamespace = 'minutehand'::regnamespace
        union all select proname, proacl::text from pg_proc where pronamespace = 'minutehand'::regnamespace
        union all select attrelid::regclass || '.' || attname, attacl::text
                    from pg_attribute where attacl is not null order by 1, 2"""
    before = queue.sql(grants)
    given = queue.sql("select minutehand.grant_roles() as role")

    assert queue.sql(grants) == before
    assert [row["role"] for row in given] == [
        "minutehand_enqueuer", "minutehand_worker", "minutehand_operator", "minutehand_tenant", "minutehand_migrator",
    ]  # fmt: skip


@pytest.mark.parametrize("role", ROLES)
def test_a_group_is_nobody_to_log_in_as(database: servers.Database, role: str) -> None:
    url = psycopg.conninfo.make_conninfo(database.admin_url, user=f"minutehand_{role}", password="x")
    with pytest.raises(UnreachableError):
        Database(url).run("clock")
