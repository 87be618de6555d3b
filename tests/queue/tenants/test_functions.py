"""Functions do not let a tenant reach another tenant's rows."""

from contextlib import suppress
from datetime import timedelta
from typing import LiteralString
from uuid import UUID

import pytest
from psycopg import errors

from minutehand import Database
from minutehand.finish import finish
from minutehand.model.outcome import Failed
from minutehand.operations.deletion import delete
from tests.queue.logins import Login
from tests.queue.stage import Queue
from tests.queue.tenants.stage import ROWS, enqueue_as, query, query_as

pytestmark = pytest.mark.every_server


# Functions that run with the rights of the owner, so no policy applies, and that a tenant may call. Each checks the
# tenant of the session, or returns nothing about a job. Before you add one, review it and add a test of it below.
REVIEWED_FUNCTIONS = {
    "awaited_by",
    "batch_progress",
    "callbacks_of",
    "cancel_jobs",
    "close_batch",
    "control_states",
    "current_tenant",
    "delete_finished",
    "delete_jobs",
    "delete_upcoming",
    "edit_jobs",
    "enqueue_all",
    "enqueue_alike",
    "enqueue_incoming",
    "enqueue_plain",
    "fire_now",
    "group_state",
    "keep_events",
    "next_start",
    "offer_now",
    "open_batch",
    "pause_schedule",
    "promote_jobs",
    "queues_seen",
    "record_audit",
    "delete_schedule",
    "replace_payloads",
    "replace_schedule_payload",
    "request_cancellation",
    "reschedule_jobs",
    "retry_holds",
    "retry_jobs",
    "save_schedule",
    "unblock",
    "withdraw_ahead",
    "withdraw_now",  # fenced by the ack of an offer
}


def test_tenant_can_call_only_reviewed_definer_functions(queue: Queue) -> None:
    found = queue.sql(
        """select distinct proname::text as name from pg_proc where pronamespace = 'minutehand'::regnamespace
              and prosecdef and has_function_privilege('minutehand_tenant', oid, 'execute')"""
    )

    assert {row["name"] for row in found} == REVIEWED_FUNCTIONS


# {upcoming}, {running} and {dead} are jobs of the other tenant.
FORGED: list[str] = [
    "select minutehand.withdraw_ahead('b', 's', '2020-01-01')",
    "select minutehand.fire_now('s', now(), null)",
    "select minutehand.pause_schedule('s', true, null, null)",
    "select minutehand.delete_schedule('s')",
    "select minutehand.replace_schedule_payload('b', 's', null, '1')",
    "select minutehand.cancel_jobs(array['{upcoming}']::uuid[], 'no')",
    "select minutehand.request_cancellation(array['{running}']::uuid[], 'no')",
    "select minutehand.promote_jobs(array['{upcoming}']::uuid[])",
    "select minutehand.reschedule_jobs(array['{upcoming}']::uuid[], now(), null)",
    "select minutehand.retry_jobs(array['{dead}']::uuid[], '{{0 s}}')",
    "select minutehand.edit_jobs(array['{upcoming}']::uuid[], '{{priority}}', null, null, 1, null, null, null,"
    " null, null)",
    "select minutehand.delete_jobs(array['{upcoming}']::uuid[])",
    "select minutehand.delete_upcoming('default', 10)",
    "select minutehand.delete_finished(now() + '1 hour', null, null, null, 10)",
    "select minutehand.replace_payloads(array['{upcoming}']::uuid[], '{{null}}', '{{1}}')",
    "select minutehand.record_audit('root', 'cancel', array['{upcoming}']::uuid[], '{{NULL}}', '{{b}}')",
    "select minutehand.record_audit('root', 'cancel', array['{upcoming}']::uuid[], '{{NULL}}', null)",
    "select minutehand.record_audit('root', 'cancel', array['{deleted}']::uuid[], '{{NULL}}', '{{a}}')",
    """select minutehand.keep_events(
           '[{{"id": "01a1fe30-d3a6-7c72-8ab3-9322193cd77e", "tenant": "b", "name": "done"}}]')""",
    """select minutehand.keep_events(
           '[{{"id": "01a1fe30-d3a6-7c72-8ab3-9322193cd77e", "job": "{upcoming}", "name": "done"}}]')""",
    "select minutehand.close_batch('{batch}')",
    "select minutehand.open_batch(tenant => 'b')",
    "select minutehand.unblock('other', 'b', 'blocked')",
    "select * from minutehand.offer_now(array['{due}']::uuid[], null, false)",
    "select * from minutehand.enqueue('echo', key => 'k', tenant => 'b')",
    "select * from minutehand.enqueue('echo', after => array['{upcoming}']::uuid[])",
    """select minutehand.enqueue_alike(
           json_populate_record(null::minutehand.new_jobs, '{{"kind": "echo", "tenant": "b"}}'), '[1]', '{{0}}',
           array[gen_random_uuid()])""",
    "select minutehand.enqueue_plain(gen_random_uuid(), 'echo', tenant => 'b')",
    "insert into minutehand.new_jobs (load, ordinal, kind, tenant) values (gen_random_uuid(), 1, 'echo', 'b')",
]


def with_rows_of_b(queue: Queue) -> dict[str, UUID]:
    """Give the other tenant a job in each condition, a schedule and a firing; return the jobs' ids."""
    running, dead = (
        queue.claimed(tenant="b", queue="other"),
        queue.claimed(tenant="b", max_attempts=1, queue="other"),
    )
    finish(dead, Failed({"type": "ValueError", "message": "no", "trace": ""}))
    ids = {
        "upcoming": enqueue_as(queue, "b", key="k", delay=timedelta(hours=1)),
        "running": running.id,
        "dead": dead.id,
        "deleted": enqueue_as(queue, "b", delay=timedelta(hours=1)),
    }
    delete(queue.database, [ids["deleted"]])
    (batch,) = queue.sql("insert into minutehand.batches (tenant) values ('b') returning id")
    ids |= {"batch": batch["id"], "due": queue.enqueue(tenant="b", queue="prompt")}
    queue.sql("update minutehand.dispatcher set capacity = 10, offer_ttl = interval '1 minute'")
    queue.sql(
        """with b as (insert into minutehand.breakers values ('other', 'b', 'blocked', 0, null, null, '2099-01-01'))
           insert into minutehand.blocked_groups values ('other', 'b', 'blocked', gen_random_uuid())"""
    )
    queue.sql(ROWS["schedules"], tenant="b")
    queue.sql(
        "insert into minutehand.firings (tenant, schedule, nominal, outcome, job) "
        "values ('b', 's', '2026-01-01', 'fired', %(job)s)",
        job=ids["upcoming"],
    )
    return ids


def test_login_that_also_enqueues_for_all_tenants_sees_no_queue(tenant: Database, queue: Queue) -> None:
    queue.enqueue(tenant="b")
    queue.sql(f"grant minutehand_enqueuer to {tenant.connection.info.user}")

    assert query(tenant, "select minutehand.queues_seen()") == []
    assert query_as(tenant, "b", "select minutehand.queues_seen()") == [("default",)]


def test_tenant_sees_no_state_of_the_limits_of_others(tenant: Database, queue: Queue) -> None:
    queue.sql("insert into minutehand.controls (tenant, max_running) values ('b', 1), ('', 5)")

    assert query_as(tenant, "a", "select * from minutehand.control_states(now())") == []


def test_tenant_sees_no_callback_of_others(tenant: Database, queue: Queue) -> None:
    (row,) = queue.sql(
        """with b as (insert into minutehand.batches (tenant, complete_job) values ('b', %(job)s) returning id)
           insert into minutehand.batch_checks (batch, shard) select id, 64 from b returning batch""",
        job=queue.enqueue(tenant="b"),
    )
    text = f"select * from minutehand.callbacks_of(array['{row['batch']}']::uuid[])"

    assert [len(query_as(tenant, name, text)) for name in ("a", "b")] == [0, 2]


# An enqueuer may name any tenant in these.
ENQUEUER_MAY = (
    "keep_events(",
    "enqueue(",
    "enqueue_alike(",
    "enqueue_plain(",
    "open_batch(",
    "close_batch(",
    "offer_now(",
)
CASES = [
    (text, role)
    for text in FORGED
    for role in ("tenant", "tenant without a tenant", "tenant and enqueuer")
    if role != "tenant and enqueuer" or not any(name in text for name in ENQUEUER_MAY)
]


@pytest.mark.parametrize(("text", "role"), CASES)
def test_definer_functions_do_not_change_other_tenants(
    tenant: Database, queue: Queue, text: str, role: str
) -> None:
    """Nor does a login that is trusted to enqueue for all tenants change their rows."""
    text = text.format(**with_rows_of_b(queue))
    if role == "tenant and enqueuer":
        queue.sql(f"grant minutehand_enqueuer to {tenant.connection.info.user}")
    before = {table: queue.sql(rows) for table, rows in ROWS_OF_B.items()}
    with suppress(errors.CheckViolation, errors.InsufficientPrivilege):
        query_as(tenant, "a", text) if role == "tenant" else query(tenant, text)

    assert {table: queue.sql(rows) for table, rows in ROWS_OF_B.items()} == before


OWN = r"and \(select minutehand.tenant_scope\(\)\) in \('', j.tenant\)"


@pytest.mark.fault("functions/updates", rf"(function minutehand.recall_offers.*?){OWN}", r"\1")
def test_operator_acting_as_a_tenant_recalls_no_offer_of_another(login: Login, queue: Queue) -> None:
    enqueue_as(queue, "b")
    offers = queue.offer()
    recall = "select minutehand.recall_offers(row(0, '', 'default', '', '', '', '', false, '', 0)::minutehand.bound)"

    assert query_as(login("operator"), "a", recall) == []
    assert len(queue.claim(*offers)) == 1


ROWS_OF_B: dict[str, LiteralString] = {
    "jobs": "select * from minutehand.jobs where tenant = 'b' order by id",
    "attempts": "select * from minutehand.attempts where tenant = 'b'",
    "batches": "select * from minutehand.batches where tenant = 'b'",
    "blocked groups": "select * from minutehand.blocked_groups g, minutehand.breakers b where g.tenant = b.tenant",
    "events": "select * from minutehand.events where tenant = 'b' or job is not null",
    "schedules": "select * from minutehand.schedules where tenant = 'b'",
    "firings": "select * from minutehand.firings",
    "audit": "select * from minutehand.audit",
}


@pytest.mark.parametrize(
    "change",
    [
        "minutehand.enqueue_all(null)",
        "minutehand.enqueue('echo')",
        "minutehand.keep_events('[]')",
        "minutehand.current_tenant()",
        "minutehand.state(null)",
    ],
)
def test_reporting_login_can_only_read(login: Login, queue: Queue, change: str) -> None:
    """A login with USAGE on the schema and SELECT: whatever Postgres grants to everyone, it has as well."""
    session = login()
    queue.sql(f"grant usage on schema minutehand to {session.connection.info.user}")
    queue.sql(f"grant select on minutehand.jobs to {session.connection.info.user}")

    assert query(session, "select id from minutehand.jobs") == []
    with pytest.raises(errors.InsufficientPrivilege):
        query(session, f"select {change}")
