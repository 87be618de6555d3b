"""Functions do not let a tenant reach another tenant's rows."""

from contextlib import suppress
from datetime import timedelta
from typing import LiteralString

import pytest
from psycopg import errors

from minutehand import Database
from tests.queue.stage import Queue
from tests.queue.tenants.stage import ROWS, SET_TENANT, enqueue_as, query, query_as

pytestmark = pytest.mark.every_server


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


# Functions that run with the rights of the owner, so no policy applies, and that a tenant may call. Each checks the
# tenant of the session, or returns nothing about a job. Before you add one, review it and add a test of it below.
REVIEWED_FUNCTIONS = {
    "current_tenant",
    "enqueue_all",
    "enqueue_incoming",
    "fire",
    "fitting",
    "keep_events",
    "lapse",
    "queues_seen",
    "withdraw_ahead",
}


def test_tenant_can_call_only_reviewed_definer_functions(queue: Queue) -> None:
    found = queue.sql(
        """select distinct proname::text as name from pg_proc where pronamespace = 'minutehand'::regnamespace
              and prosecdef and has_function_privilege('minutehand_tenant', oid, 'execute')"""
    )

    assert {row["name"] for row in found} == REVIEWED_FUNCTIONS


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


@pytest.mark.parametrize("tenant_name", ["a", None])
@pytest.mark.parametrize("text", FORGED)
def test_definer_functions_do_not_change_other_tenants(
    tenant: Database, queue: Queue, text: str, tenant_name: str | None
) -> None:
    other = enqueue_as(queue, "b", key="k", delay=timedelta(hours=1))
    queue.sql(ROWS["schedules"], tenant="b")
    queue.sql(
        "insert into minutehand.firings (tenant, schedule, nominal, outcome, job) "
        "values ('b', 's', '2026-01-01', 'fired', %(job)s)",
        job=other,
    )
    tables = ("jobs", "attempts", "events", "schedules", "firings")
    before = {table: queue.sql(ROWS_OF_B[table]) for table in tables}
    with suppress(errors.CheckViolation):
        query_as(tenant, tenant_name, text) if tenant_name else query(tenant, text)

    assert {table: queue.sql(ROWS_OF_B[table]) for table in tables} == before


ROWS_OF_B: dict[str, LiteralString] = {
    "jobs": "select * from minutehand.jobs where tenant = 'b'",
    "attempts": "select * from minutehand.attempts where tenant = 'b'",
    "events": "select * from minutehand.events where tenant = 'b'",
    "schedules": "select * from minutehand.schedules where tenant = 'b'",
    "firings": "select * from minutehand.firings where tenant = 'b'",
}
