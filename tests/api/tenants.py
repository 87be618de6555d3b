"""Tenants with one row in every table, and a call of every route about the rows of a tenant."""

import json
from dataclasses import dataclass, field
from typing import Any, LiteralString
from uuid import UUID, uuid4

import psycopg
from psycopg.rows import dict_row
from starlette.testclient import TestClient

# One row of each kind, with the tenant's mark in each text.
FIXTURES: LiteralString = """
insert into minutehand.batches (id, tenant, name, on_complete)
values (%(batch)s, %(tenant)s, %(mark)s, '{"kind": "echo"}');
insert into minutehand.jobs_live (id, tenant, queue, kind, key, payload, run_at, visible, batch)
values (%(waiting)s, %(tenant)s, %(mark)s, %(mark)s, %(mark)s, %(json)s, now(), now() + interval '1 day 1 minute',
        %(batch)s);
insert into minutehand.jobs_live (id, tenant, queue, kind, payload, ack, claimed, visible, attempts)
values (%(running)s, %(tenant)s, %(mark)s, %(mark)s, %(json)s, gen_random_uuid(), now(), now() + interval '1 day', 1);
insert into minutehand.jobs (id, tenant, queue, kind, payload, deleted, failed, error, attempts, batch)
values (%(dead)s, %(tenant)s, %(mark)s, %(mark)s, %(json)s, now(), true, '{"type": "Error", "message": "no"}', 8,
        %(batch)s);
insert into minutehand.jobs (id, tenant, queue, kind, payload, result, deleted)
values (%(done)s, %(tenant)s, %(mark)s, %(mark)s, 'null', %(json)s, now());
insert into minutehand.attempts (tenant, job, attempt, started, queue, kind, outcome, worker, error)
values (%(tenant)s, %(dead)s, 8, now(), %(mark)s, %(mark)s, 'dead', %(mark)s, '{"type": "Error", "message": "no"}');
insert into minutehand.events (tenant, name, job, queue, kind)
values (%(tenant)s, 'dead', %(dead)s, %(mark)s, %(mark)s);
insert into minutehand.schedules (tenant, name, every, next, job)
values (%(tenant)s, %(mark)s, '@daily', now() + interval '1 day', jsonb_build_object('kind', %(mark)s::text));
insert into minutehand.firings (tenant, schedule, nominal, outcome)
values (%(tenant)s, %(mark)s, '2026-01-01', 'fired');
insert into minutehand.controls (tenant, queue, paused, reason) values (%(tenant)s, %(mark)s, true, %(mark)s);
insert into minutehand.audit (tenant, actor, verb, job) values (%(tenant)s, %(mark)s, %(mark)s, %(dead)s);
insert into minutehand.lanes (queue, priority) values (%(mark)s, 5) on conflict do nothing
"""
TABLES = ("jobs", "attempts", "events", "schedules", "firings", "controls", "audit", "uniques", "batches")


@dataclass(frozen=True)
class Tenant:
    """The rows of a tenant by name. Each contains `mark`."""

    name: str
    mark: str
    ids: dict[str, UUID] = field(
        default_factory=lambda: {n: uuid4() for n in ("waiting", "running", "dead", "done", "batch")}
    )

    def insert(self, admin: "psycopg.Connection[Any]") -> None:
        known = {"tenant": self.name, "mark": self.mark, "json": f'"{self.mark}"', **self.ids}
        psycopg.ClientCursor(admin).execute(FIXTURES, known)

    def traces(self) -> set[str]:
        return {self.mark, *map(str, self.ids.values())}

    def filled(self, text: str) -> str:
        """Replace <mark> and <names> in a text by the tenant's mark and ids."""
        for name, each in {"mark": self.mark, **self.ids}.items():
            text = text.replace(f"<{name}>", str(each))
        return text


@dataclass(frozen=True)
class Call:
    """The call of a route about a tenant's rows, and whether the route is closed to tenants."""

    path: str
    body: Any = None
    closed: bool = False  # to tenants, because it affects all tenants

    def send(self, api: TestClient, method: str, of: Tenant, token: str) -> Any:
        body = self.body if self.body is None else json.loads(of.filled(json.dumps(self.body)))
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return api.request(method, of.filled(self.path), json=body, headers=headers)


JOB = {"kind": "<mark>", "queue": "<mark>", "key": "<mark>"}
# Every route. A new route needs an entry: a call that succeeds for the owner of the row.
CALLS = {
    "POST /jobs": Call("/jobs", JOB),
    "POST /jobs/batch": Call("/jobs/batch", {"jobs": [JOB]}),
    "POST /jobs/change": Call(
        "/jobs/change", {"verb": "cancel", "ids": ["<waiting>", "<running>"], "running": True}
    ),
    "POST /jobs/retry": Call("/jobs/retry", {"queue": "<mark>", "per_minute": 60}),
    "POST /jobs/replay": Call("/jobs/replay", {"kind": "<mark>", "state": ["done", "dead"]}),
    "GET /jobs/counts": Call("/jobs/counts?kind=<mark>"),
    "POST /jobs/matching": Call(
        "/jobs/matching", {"verb": "retry", "filter": {"kind": "<mark>"}, "dry_run": False}
    ),
    "GET /failures": Call("/failures?window=7d"),
    "GET /jobs": Call("/jobs?total=true"),
    "GET /jobs/{id}": Call("/jobs/<waiting>?include=payload"),
    "PATCH /jobs/{id}": Call("/jobs/<waiting>", {"payload": 1, "priority": 9}),
    "DELETE /jobs/{id}": Call("/jobs/<waiting>"),
    "GET /jobs/{id}/attempts": Call("/jobs/<dead>/attempts"),
    "GET /jobs/{id}/why": Call("/jobs/<waiting>/why"),
    "POST /jobs/{id}/cancel": Call("/jobs/<waiting>/cancel"),
    "POST /jobs/{id}/promote": Call("/jobs/<waiting>/promote"),
    "POST /jobs/{id}/replay": Call("/jobs/<done>/replay"),
    "POST /jobs/{id}/reschedule": Call("/jobs/<waiting>/reschedule", {"delay": 60}),
    "POST /jobs/{id}/retry": Call("/jobs/<dead>/retry"),
    "GET /batches": Call("/batches"),
    "POST /batches": Call("/batches", {"name": "<mark>"}),
    "GET /batches/{id}": Call("/batches/<batch>"),
    "POST /batches/{id}/cancel": Call("/batches/<batch>/cancel", {"reason": "<mark>"}),
    "POST /batches/{id}/close": Call("/batches/<batch>/close"),
    "POST /batches/{id}/retry": Call("/batches/<batch>/retry", {}),
    "GET /queues": Call("/queues"),
    "GET /queues/{queue}/why": Call("/queues/<mark>/why"),
    "POST /queues/{queue}/delete": Call("/queues/<mark>/delete", {"confirm": "<mark>"}, True),
    "GET /queues/{queue}/keys/{key:path}": Call("/queues/<mark>/keys/<mark>?include=payload"),
    "GET /controls": Call("/controls", closed=True),
    "GET /controls/holds": Call("/controls/holds", closed=True),
    "POST /controls/pause": Call("/controls/pause", {"queue": "<mark>", "tenant": "b"}, True),
    "POST /controls/resume": Call("/controls/resume", {"queue": "<mark>", "tenant": "b"}, True),
    "POST /controls/limit": Call("/controls/limit", {"queue": "<mark>", "tenant": "b", "limit": 1}, True),
    "POST /controls/unlimit": Call("/controls/unlimit", {"queue": "<mark>", "tenant": "b"}, True),
    "POST /controls/unblock": Call(
        "/controls/unblock", {"queue": "<mark>", "group": "<mark>", "tenant": "b"}, True
    ),
    "GET /controls/shares": Call("/controls/shares", closed=True),
    "POST /controls/share": Call("/controls/share", {"tenant": "b", "weight": 2}, True),
    "POST /controls/unshare": Call("/controls/unshare", {"tenant": "b"}, True),
    "GET /audit": Call("/audit"),
    "GET /retention": Call("/retention", closed=True),
    "PUT /retention": Call("/retention", {"queue": "<mark>", "done": "P1D"}, True),
    "GET /stats": Call("/stats?since=2026-01-01T00:00:00Z"),
    "GET /stats/histogram": Call("/stats/histogram?by=day"),
    "GET /stats/durations": Call("/stats/durations?since=2026-01-01T00:00:00Z&until=2036-01-01T00:00:00Z"),
    "GET /stats/failures": Call("/stats/failures?since=2026-01-01T00:00:00Z&until=2036-01-01T00:00:00Z"),
    "GET /stats/today": Call("/stats/today"),
    "GET /stats/history": Call("/stats/history?window=7d&queue=<mark>"),
    "GET /attention": Call("/attention"),
    "GET /system": Call("/system", closed=True),
    "GET /cost": Call("/cost", closed=True),
    "GET /schedules": Call("/schedules"),
    "GET /schedules/{name:path}": Call("/schedules/<mark>?include=payload"),
    "PUT /schedules/{name:path}": Call("/schedules/<mark>", {"every": "@hourly", "job": {"kind": "echo"}}),
    "DELETE /schedules/{name:path}": Call("/schedules/<mark>"),
    "POST /schedules/{name:path}/pause": Call("/schedules/<mark>/pause"),
    "POST /schedules/{name:path}/resume": Call("/schedules/<mark>/resume"),
    "POST /schedules/{name:path}/run": Call("/schedules/<mark>/run"),
    "GET /schedules/{name:path}/firings": Call("/schedules/<mark>/firings"),
}
# Routes that return no rows.
NO_DATA = {
    "GET /",
    "GET /console",
    "GET /console/static/{version}/{name:path}",
    "GET /console/{path:path}",
    "GET /health",
    "GET /me",
    "GET /openapi.json",
    "HEAD /openapi.json",
    "POST /schedules/preview",
}


def rows_of(admin: "psycopg.Connection[Any]", tenant: str) -> dict[str, list[Any]]:
    """Return all rows of a tenant by table."""
    with admin.cursor(row_factory=dict_row) as cursor:
        return {
            table: cursor.execute(
                f"select to_jsonb(t) from minutehand.{table} t where tenant = %s order by t::text", [tenant]
            ).fetchall()
            for table in TABLES
        }


def delete_rows(admin: "psycopg.Connection[Any]") -> None:
    """Delete the rows of all tenants."""
    for table in (*TABLES, "lanes", "retention"):
        admin.execute(f"delete from minutehand.{table}")
