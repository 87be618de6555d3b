"""Statements and jobs of a tenant, past the library."""

from typing import Any, LiteralString
from uuid import UUID

from minutehand import Database, enqueue
from minutehand.database.tenants import as_tenant
from tests.queue.stage import Queue

SET_TENANT: LiteralString = "select set_config('minutehand.tenant', %s, true)"

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
    "unclaimed_offers": "insert into minutehand.unclaimed_offers (job, tenant, offers, offered, ended, outcomes, day) "
    "values (gen_random_uuid(), %(tenant)s, 1, array[now()], array[now()], '{lapsed}', current_date)",
    "audit": "insert into minutehand.audit (tenant, actor, verb) values (%(tenant)s, 'ada', 'cancel')",
}


def query(session: Database, text: str, *parameters: object) -> list[Any]:
    """Run SQL directly, in its own transaction."""
    cursor = session.connection.execute(text.encode(), parameters or None)
    return cursor.fetchall() if cursor.description else []


def query_as(session: Database, tenant: str, text: str) -> list[Any]:
    """Run SQL directly, in a transaction that sets the tenant itself."""
    with session.connection.transaction():
        session.connection.execute(SET_TENANT, [tenant])
        return query(session, text)


def enqueue_as(queue: Queue, tenant: str, **options: Any) -> UUID:
    """Enqueue a job of a tenant with the session of the owner."""
    with as_tenant(queue.database, tenant) as own:
        return enqueue("echo", connection=own, **options).id


def jobs_of(queue: Queue, tenant: str) -> list[Any]:
    return queue.sql("select * from minutehand.jobs where tenant = %(tenant)s order by id", tenant=tenant)
