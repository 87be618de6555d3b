"""Statements and jobs of a tenant, past the library."""

from typing import Any, LiteralString
from uuid import UUID

from minutehand import Database, enqueue
from minutehand.database.tenants import as_tenant
from tests.queue.stage import Queue

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
    "audit": "insert into minutehand.audit (tenant, actor, verb) values (%(tenant)s, 'ada', 'cancel')",
}  # fmt: skip


def ask(session: Database, text: str, *parameters: object) -> list[Any]:
    """Ask in a transaction of its own, past the library."""
    cursor = session.connection.execute(text.encode(), parameters or None)
    return cursor.fetchall() if cursor.description else []


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
