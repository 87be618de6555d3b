"""Tenants over HTTP: every route is called with a tenant's token for what is another's, and finds nothing of it."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, LiteralString
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg.rows import dict_row
from starlette.testclient import TestClient

from tests.queue.logins import logins
from tests.servers import Database as Server

A, B, ALL, NOBODY = "token-of-tenant-a", "token-of-tenant-b", "token-that-sees-all", "token-of-tenant-c"
TOKENS = f"ada@a:{A},bob@b:{B},{ALL},eve@c:{NOBODY}"

# Everything that a tenant can have, with its mark in each text.
WORLD: LiteralString = """
insert into minutehand.jobs_live (id, tenant, queue, kind, key, payload, run_at, visible)
values (%(waiting)s, %(tenant)s, %(mark)s, %(mark)s, %(mark)s, %(json)s, now(), now() + interval '1 day');
insert into minutehand.jobs_live (id, tenant, queue, kind, payload, ack, claimed, visible, attempts)
values (%(running)s, %(tenant)s, %(mark)s, %(mark)s, %(json)s, gen_random_uuid(), now(), now() + interval '1 day', 1);
insert into minutehand.jobs (id, tenant, queue, kind, payload, deleted, failed, error, attempts)
values (%(dead)s, %(tenant)s, %(mark)s, %(mark)s, %(json)s, now(), true, '{"type": "Error", "message": "no"}', 8);
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
insert into minutehand.controls (tenant, queue, paused, why) values (%(tenant)s, %(mark)s, true, %(mark)s);
insert into minutehand.audit (tenant, who, verb, job) values (%(tenant)s, %(mark)s, %(mark)s, %(dead)s);
insert into minutehand.lanes (queue, priority) values (%(mark)s, 5) on conflict do nothing
"""
TABLES = ("jobs", "attempts", "events", "schedules", "firings", "controls", "audit", "uniques")


@dataclass(frozen=True)
class Tenant:
    """A tenant's things by their names; `mark` is in everything that it has."""

    name: str
    mark: str
    ids: dict[str, UUID] = field(
        default_factory=lambda: {n: uuid4() for n in ("waiting", "running", "dead", "done")}
    )

    def insert(self, admin: "psycopg.Connection[Any]") -> None:
        known = {"tenant": self.name, "mark": self.mark, "json": f'"{self.mark}"', **self.ids}
        psycopg.ClientCursor(admin).execute(WORLD, known)

    def traces(self) -> set[str]:
        return {self.mark, *map(str, self.ids.values())}

    def filled(self, text: str) -> str:
        """A text with the tenant's own mark and ids in the place of their names."""
        for name, each in {"mark": self.mark, **self.ids}.items():
            text = text.replace(f"<{name}>", str(each))
        return text


@dataclass(frozen=True)
class Call:
    """How a route is called about somebody's things, and whether it is open to tenants at all."""

    path: str
    body: Any = None
    closed: bool = False  # to tenants: it concerns them all

    def send(self, api: TestClient, method: str, of: Tenant, token: str) -> Any:
        body = self.body if self.body is None else json.loads(of.filled(json.dumps(self.body)))
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return api.request(method, of.filled(self.path), json=body, headers=headers)


JOB = {"kind": "<mark>", "queue": "<mark>", "key": "<mark>"}
# Every route there is. A new one needs a line here: how to call it so that the owner of the thing is served.
CALLS = {
    "POST /jobs": Call("/jobs", JOB),
    "POST /jobs/batch": Call("/jobs/batch", {"jobs": [JOB]}),
    "POST /jobs/change": Call(
        "/jobs/change", {"verb": "cancel", "ids": ["<waiting>", "<running>"], "running": True}
    ),
    "POST /jobs/redrive": Call("/jobs/redrive", {"queue": "<mark>", "per_minute": 60}),
    "POST /jobs/reprocess": Call("/jobs/reprocess", {"kind": "<mark>", "state": ["done", "dead"]}),
    "GET /jobs": Call("/jobs?total=true"),
    "GET /jobs/{id}": Call("/jobs/<waiting>?include=payload"),
    "PATCH /jobs/{id}": Call("/jobs/<waiting>", {"payload": 1, "priority": 9}),
    "DELETE /jobs/{id}": Call("/jobs/<waiting>"),
    "GET /jobs/{id}/attempts": Call("/jobs/<dead>/attempts"),
    "POST /jobs/{id}/cancel": Call("/jobs/<waiting>/cancel"),
    "POST /jobs/{id}/promote": Call("/jobs/<waiting>/promote"),
    "POST /jobs/{id}/replay": Call("/jobs/<done>/replay"),
    "POST /jobs/{id}/reschedule": Call("/jobs/<waiting>/reschedule", {"delay": 60}),
    "POST /jobs/{id}/retry": Call("/jobs/<dead>/retry"),
    "GET /queues": Call("/queues"),
    "POST /queues/{queue}/drop": Call("/queues/<mark>/drop", {"confirm": "<mark>"}, True),
    "GET /queues/{queue}/keys/{key:path}": Call("/queues/<mark>/keys/<mark>?include=payload"),
    "GET /controls": Call("/controls", closed=True),
    "POST /controls/pause": Call("/controls/pause", {"queue": "<mark>", "tenant": "b"}, True),
    "POST /controls/resume": Call("/controls/resume", {"queue": "<mark>", "tenant": "b"}, True),
    "POST /controls/limit": Call("/controls/limit", {"queue": "<mark>", "tenant": "b", "limit": 1}, True),
    "POST /controls/unlimit": Call("/controls/unlimit", {"queue": "<mark>", "tenant": "b"}, True),
    "GET /audit": Call("/audit"),
    "GET /retention": Call("/retention", closed=True),
    "PUT /retention": Call("/retention", {"queue": "<mark>", "done": "P1D"}, True),
    "GET /stats": Call("/stats?since=2026-01-01T00:00:00Z"),
    "GET /stats/histogram": Call("/stats/histogram?by=day"),
    "GET /stats/durations": Call("/stats/durations?since=2026-01-01T00:00:00Z&until=2036-01-01T00:00:00Z"),
    "GET /stats/failures": Call("/stats/failures?since=2026-01-01T00:00:00Z&until=2036-01-01T00:00:00Z"),
    "GET /stats/today": Call("/stats/today"),
    "GET /schedules": Call("/schedules"),
    "GET /schedules/{name:path}": Call("/schedules/<mark>?include=payload"),
    "PUT /schedules/{name:path}": Call("/schedules/<mark>", {"every": "@hourly", "job": {"kind": "echo"}}),
    "DELETE /schedules/{name:path}": Call("/schedules/<mark>"),
    "POST /schedules/{name:path}/pause": Call("/schedules/<mark>/pause"),
    "POST /schedules/{name:path}/resume": Call("/schedules/<mark>/resume"),
    "POST /schedules/{name:path}/run": Call("/schedules/<mark>/run"),
    "GET /schedules/{name:path}/firings": Call("/schedules/<mark>/firings"),
}
# What has no row of any table in it.
NO_DATA = {
    "GET /console",
    "GET /console.css",
    "GET /console.js",
    "GET /health",
    "GET /openapi.json",
    "HEAD /openapi.json",
    "POST /schedules/preview",
}


# The database confines every route of a tenant's role in the same way; for the others the API takes that role first.
# One route of each way to do that is enough for them.
HANDFUL = (
    "POST /jobs",
    "POST /jobs/change",
    "GET /jobs",
    "PATCH /jobs/{id}",
    "POST /jobs/{id}/replay",
    "GET /audit",
    "GET /stats",
    "PUT /schedules/{name:path}",
    "POST /controls/pause",
    "PUT /retention",
)
TENANTS_ROUTES = [
    *(("tenant", route) for route in CALLS),
    *((role, route) for role in ("owner", "operator", "operator and tenant") for route in HANDFUL),
]


@pytest.fixture
def server(direct_database: Server) -> Server:
    return direct_database


@pytest.fixture
def admin(server: Server) -> Iterator["psycopg.Connection[Any]"]:
    with psycopg.connect(server.admin_url, autocommit=True) as admin:
        yield admin


@pytest.fixture
def api(request, function, on_database, server, monkeypatch) -> Iterator[TestClient]:
    """The API, whose own login is the owner's or a member of one or two roles."""
    monkeypatch.setenv("MINUTEHAND_API_TOKENS", TOKENS)
    with logins(server) as login:
        if request.param == "owner":
            on_database(server)
        else:
            first, *more = request.param.split(" and ")
            session = login(first)
            user = session.connection.info.user
            with psycopg.connect(server.admin_url, autocommit=True) as admin:
                for each in more:
                    admin.execute(f"grant minutehand_{each} to {user}")
            on_database(
                Server(psycopg.conninfo.make_conninfo(server.url, user=user, password="x"), server.admin_url)
            )
        yield TestClient(function.app)


def rows_of(admin: "psycopg.Connection[Any]", tenant: str) -> dict[str, list[Any]]:
    """All that a tenant has, as it stands."""
    with admin.cursor(row_factory=dict_row) as cursor:
        return {
            table: cursor.execute(
                f"select to_jsonb(t) from minutehand.{table} t where tenant = %s order by t::text", [tenant]
            ).fetchall()
            for table in TABLES
        }


def routes_of(router: Any) -> Iterator[str]:
    """The methods and paths of a router and of those that it includes, on the schema or not."""
    for route in router.routes:
        if included := getattr(route, "original_router", None):
            yield from routes_of(included)
        else:
            yield from (f"{method} {route.path}" for method in route.methods)


def test_every_route_is_listed_here(function) -> None:
    assert {*routes_of(function.app)} == {*CALLS} | NO_DATA


@pytest.mark.parametrize(("api", "route"), TENANTS_ROUTES, indirect=["api"])
def test_a_tenant_cannot_access_another_tenant(api, admin, route) -> None:
    """As told of what does not exist, and not a row is changed; to the tenant itself the same request does its work."""
    call, method = CALLS[route], route.partition(" ")[0]
    a, b, nobody = Tenant("a", "mark_a"), Tenant("b", "mark_b"), Tenant("", "mark_nobody")
    for each in (a, b, nobody):
        each.insert(admin)
    before = rows_of(admin, "b"), rows_of(admin, "")

    for theirs in (b, nobody):
        answer = call.send(api, method, theirs, A)
        of_none = call.send(api, method, Tenant("c", f"{theirs.mark}_none"), A)
        sent = {
            trace for trace in theirs.traces() if trace in theirs.filled(call.path + json.dumps(call.body))
        }

        assert {trace for trace in theirs.traces() - sent if trace in answer.text} == set()
        assert answer.status_code == of_none.status_code, answer.text
        assert answer.json().keys() == of_none.json().keys()
    assert (rows_of(admin, "b"), rows_of(admin, "")) == before
    assert (answer.status_code == 403) == call.closed

    without = call.send(api, method, b, NOBODY)
    own = call.send(api, method, b, B)
    assert own.status_code < 400 or call.closed, own.text
    assert own.text != without.text or rows_of(admin, "b") != before[0] or call.closed


@pytest.mark.parametrize(
    ("api", "route"),
    [(role, route) for role, route in TENANTS_ROUTES if route.startswith("GET") and not CALLS[route].closed],
    indirect=["api"],
)
def test_responses_do_not_depend_on_other_tenants(api, admin, route) -> None:
    call = CALLS[route]
    a = Tenant("a", "mark_a")
    a.insert(admin)
    before = call.send(api, "GET", a, A)
    for each in (Tenant("b", "mark_b"), Tenant("", "mark_nobody"), Tenant("b2", "mark_a")):
        each.insert(admin)

    assert call.send(api, "GET", a, A).text == before.text


@pytest.mark.parametrize("api", ["owner", "operator"], indirect=True)
@pytest.mark.parametrize("route", [route for route, call in CALLS.items() if call.closed])
def test_operations_for_all_tenants_need_a_token_without_one(api, admin, route) -> None:
    b = Tenant("b", "mark_b")
    b.insert(admin)

    assert CALLS[route].send(api, route.partition(" ")[0], b, ALL).status_code < 400


@pytest.mark.parametrize("api", ["owner", "operator", "operator and tenant"], indirect=True)
def test_a_token_without_a_tenant_lists_the_jobs_of_all_tenants(api, admin) -> None:
    for each in (Tenant("a", "mark_a"), Tenant("b", "mark_b"), Tenant("", "mark_nobody")):
        each.insert(admin)

    def listed(token: str) -> int:
        return len(api.get("/jobs", headers={"Authorization": f"Bearer {token}"}).json()["jobs"])

    assert [listed(token) for token in (ALL, A, B, NOBODY)] == [12, 4, 4, 0]


@pytest.mark.parametrize("api", ["tenant"], indirect=True)
def test_a_tenant_role_requires_a_token_with_a_tenant(api, admin) -> None:
    Tenant("a", "mark_a").insert(admin)
    headers = {"Authorization": f"Bearer {ALL}"}

    assert api.get("/jobs", headers=headers).json()["jobs"] == []
    refused = api.post("/jobs", json={"kind": "echo"}, headers=headers)
    assert (refused.status_code, refused.json()["rule"]) == (422, "tenant_is_set")


@pytest.mark.parametrize("api", ["owner", "operator", "operator and tenant", "tenant"], indirect=True)
def test_every_job_of_a_batch_gets_the_tenant(api, admin) -> None:
    answer = api.post(
        "/jobs/batch",
        json={"jobs": [{"kind": "echo"}, {"kind": "no kind"}, {"kind": "echo", "key": "k"}]},
        headers={"Authorization": f"Bearer {A}"},
    )

    assert [item["outcome"] for item in answer.json()["items"]] == ["created", "rejected", "created"]
    assert admin.execute("select distinct tenant::text from minutehand.jobs").fetchall() == [("a",)]


def test_tenants_share_a_pooled_connection_but_no_data(servers, function, on_database, monkeypatch) -> None:
    monkeypatch.setenv("MINUTEHAND_API_TOKENS", TOKENS)
    address = servers.address("pgbouncer-18")
    server = address.make()
    database = on_database(server)
    api = TestClient(function.app)
    ids: dict[str, set[str]] = {A: set(), B: set(), ALL: set()}
    try:
        for n in range(12):
            token = (A, B, ALL)[n % 3]
            headers = {"Authorization": f"Bearer {token}"}
            ids[token].add(api.post("/jobs", json={"kind": "echo"}, headers=headers).json()["id"])
            seen = {job["id"] for job in api.get("/jobs", headers=headers).json()["jobs"]}
            assert seen == (set.union(*ids.values()) if token == ALL else ids[token])
    finally:
        database.close()
        address.drop(server)
