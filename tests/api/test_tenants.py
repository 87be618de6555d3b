"""Tenants over HTTP: no route gives access to another tenant's jobs."""

import json
import re
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from starlette.testclient import TestClient

from tests.api.tenants import CALLS, NO_DATA, Call, Tenant, delete_rows, rows_of
from tests.queue.logins import logins
from tests.servers import Database as Server

A, B, ALL, NOBODY = "token-of-tenant-a", "token-of-tenant-b", "token-that-sees-all", "token-of-tenant-c"
TOKENS = f"ada@a:{A},bob@b:{B},{ALL},eve@c:{NOBODY}"
# The database restricts a tenant's role in every route alike. Other logins switch to that role first,
# in one of a few ways; one route for each way is enough for these.
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
ROUTES = {"tenant": tuple(CALLS), "owner": HANDFUL, "operator": HANDFUL, "operator and tenant": HANDFUL}


@pytest.fixture
def server(direct_database: Server) -> Server:
    return direct_database


@pytest.fixture
def admin(server: Server) -> Iterator["psycopg.Connection[Any]"]:
    with psycopg.connect(server.admin_url, autocommit=True) as admin:
        yield admin


@pytest.fixture
def api(request, function, on_database, server, monkeypatch) -> Iterator[TestClient]:
    """The API with the login of the owner, or of a member of one or two roles."""
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


def routes_of(router: Any) -> Iterator[str]:
    """Yield the methods and paths of a router and of its included routers."""
    for route in router.routes:
        if included := getattr(route, "original_router", None):
            yield from routes_of(included)
        else:
            yield from (f"{method} {route.path}" for method in route.methods)


def test_route_list_is_complete(function) -> None:
    function.resources.add_all()

    assert {*routes_of(function.app)} == {*CALLS} | NO_DATA


@pytest.mark.parametrize(("api", "routes"), ROUTES.items(), ids=ROUTES, indirect=["api"])
def test_tenant_cannot_access_another_tenant(api, admin, routes) -> None:
    """The response is that for a missing job and no row changes; the same request of the owner succeeds."""
    for route in routes:
        check_access(api, admin, CALLS[route], route.partition(" ")[0])
        delete_rows(admin)


def check_access(api: TestClient, admin: "psycopg.Connection[Any]", call: Call, method: str) -> None:
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


def steady(text: str) -> str:
    """Return a response without the times of the request and of what it selects."""
    return re.sub(r'"(now|since|until|finished_since)":"[^"]*"', "", text)


@pytest.mark.parametrize(("api", "routes"), ROUTES.items(), ids=ROUTES, indirect=["api"])
def test_responses_do_not_depend_on_other_tenants(api, admin, routes) -> None:
    for route in routes:
        call = CALLS[route]
        if call.closed or not route.startswith("GET"):
            continue
        a = Tenant("a", "mark_a")
        a.insert(admin)
        before = call.send(api, "GET", a, A)
        for each in (Tenant("b", "mark_b"), Tenant("", "mark_nobody"), Tenant("b2", "mark_a")):
            each.insert(admin)

        assert steady(call.send(api, "GET", a, A).text) == steady(before.text)
        delete_rows(admin)


@pytest.mark.parametrize("api", ["owner", "operator"], indirect=True)
def test_operation_on_all_tenants_requires_an_unbound_token(api, admin) -> None:
    for route in (route for route, call in CALLS.items() if call.closed):
        b = Tenant("b", "mark_b")
        b.insert(admin)

        assert CALLS[route].send(api, route.partition(" ")[0], b, ALL).status_code < 400, route
        delete_rows(admin)


@pytest.mark.parametrize("api", ["owner", "operator", "operator and tenant"], indirect=True)
def test_unbound_token_lists_jobs_of_all_tenants(api, admin) -> None:
    for each in (Tenant("a", "mark_a"), Tenant("b", "mark_b"), Tenant("", "mark_nobody")):
        each.insert(admin)

    def listed(token: str) -> int:
        return len(api.get("/jobs", headers={"Authorization": f"Bearer {token}"}).json()["jobs"])

    assert [listed(token) for token in (ALL, A, B, NOBODY)] == [12, 4, 4, 0]


@pytest.mark.parametrize("api", ["tenant"], indirect=True)
def test_tenant_role_requires_a_token_with_a_tenant(api, admin) -> None:
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
