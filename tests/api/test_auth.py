"""Authentication: tokens, callers that API Gateway authorized, and local runs."""

import pytest
from starlette.testclient import TestClient

from tests.api.stage import TOKEN

PATHS = ["/jobs", "/stats", "/openapi.json", "/nowhere", "/health/", "/consoles"]
OTHER = "another-token-for-the-examples"


@pytest.fixture
def call(function, jobs):
    """Send a request with headers from an address."""

    def make(client: str = "203.0.113.9", host: str = "localhost:8080", **headers: str) -> TestClient:
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        return TestClient(function.app, base_url=f"http://{host}", client=(client, 5000), headers=names)

    return make


@pytest.fixture
def local(monkeypatch, call):
    """The open API of a local run."""
    monkeypatch.setenv("MINUTEHAND_LOCAL", "1")
    return call


@pytest.mark.parametrize("path", PATHS)
def test_request_without_a_token_is_rejected(call, token, problem, path):
    answer = call().get(path)

    assert problem(answer, 401)["type"] == "urn:minutehand:problem:unauthorized"
    assert answer.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize(
    "sent",
    [
        "",
        "Bearer",
        "Bearer ",
        TOKEN,
        f"Basic {TOKEN}",
        f"Bearer {TOKEN}x",
        f"Bearer {TOKEN[:-1]}",
        f"Bearer {TOKEN},{OTHER}",
        "Bearer \u00fcber-the-hills-and-far",
    ],
)
def test_wrong_token_is_rejected(call, token, problem, sent):
    problem(call(authorization=sent.encode("latin-1")).get("/jobs"), 401)


def test_two_tokens_in_one_request_are_rejected(call, token, problem):
    headers = [("authorization", f"Bearer {TOKEN}"), ("authorization", f"Bearer {TOKEN}")]

    problem(call().get("/jobs", headers=headers), 401)


def test_every_token_is_accepted_during_a_rotation(call, monkeypatch):
    monkeypatch.setenv("MINUTEHAND_API_TOKENS", f" {TOKEN}, {OTHER} ,")

    for token in (TOKEN, OTHER):
        assert call(authorization=f"bearer {token}").get("/jobs").status_code == 200


def test_short_token_is_ignored_and_logged(call, monkeypatch, problem, log):
    monkeypatch.setenv("MINUTEHAND_API_TOKENS", f"short,{TOKEN}")

    problem(call(authorization="Bearer short").get("/jobs"), 401)
    assert "less than 16 characters" in log.getvalue()
    assert TOKEN not in log.getvalue()
    assert call(authorization=f"Bearer {TOKEN}").get("/jobs").status_code == 200


@pytest.mark.parametrize("path", ["/jobs", "/health", "/console"])
def test_local_api_with_tokens_rejects_other_sites(local, token, problem, path):
    bearer = {"authorization": f"Bearer {TOKEN}"}
    assert local("127.0.0.1", **bearer).get(path).status_code == 200

    problem(local("127.0.0.1", "rebound.example:8080", **bearer).get(path), 403)
    if path == "/jobs":
        problem(local("127.0.0.1", **bearer, origin="http://evil.example").get(path), 403)
        problem(local("127.0.0.1", **bearer, sec_fetch_site="cross-site").get(path), 403)


def test_short_token_does_not_open_the_local_api(local, monkeypatch, problem):
    monkeypatch.setenv("MINUTEHAND_API_TOKENS", "short")

    problem(local("127.0.0.1").get("/jobs"), 401)


@pytest.mark.parametrize("tokens", [None, "", " , "])
def test_api_without_tokens_is_closed_and_names_the_setting(call, monkeypatch, problem, tokens):
    if tokens is not None:
        monkeypatch.setenv("MINUTEHAND_API_TOKENS", tokens)

    for path in PATHS:
        assert (
            "MINUTEHAND_API_TOKENS"
            in problem(call("127.0.0.1", authorization="Bearer ").get(path), 503)["detail"]
        )


def test_caller_is_rejected_before_the_body_is_read(call, token, problem):
    def chunks():
        yield pytest.fail("the body was read")

    problem(call().post("/jobs", content=chunks()), 401)


def test_health_needs_no_token(call):
    assert call().get("/health").status_code == 200


@pytest.mark.parametrize("client", ["127.0.0.1", "127.8.9.1", "::1"])
@pytest.mark.parametrize("host", ["localhost", "localhost:8080", "127.0.0.1:8080", "[::1]:8080", "LOCALHOST"])
def test_local_run_accepts_loopback_addresses(local, client, host):
    assert local(client, host).post("/jobs", json={"kind": "echo"}).status_code == 201
    assert local(client, host).get("/openapi.json").status_code == 200


@pytest.mark.parametrize("client", ["203.0.113.9", "10.0.0.1", "testclient", "", "fe80::1"])
def test_local_run_rejects_other_addresses(local, problem, client):
    problem(local(client).get("/jobs"), 503)


@pytest.mark.parametrize("header", ["x_forwarded_for", "forwarded"])
def test_local_run_rejects_proxied_requests(local, problem, header):
    problem(local("127.0.0.1", **{header: "127.0.0.1"}).get("/jobs"), 503)


@pytest.mark.parametrize("value", ["0", "false", "", "11"])
def test_local_run_is_disabled_by_other_values(local, monkeypatch, problem, value):
    monkeypatch.setenv("MINUTEHAND_LOCAL", value)

    problem(local("127.0.0.1").get("/jobs"), 503)


def test_lambda_is_never_local(local, monkeypatch, problem):
    monkeypatch.setenv("AWS_LAMBDA_FUNCTION_NAME", "api")

    problem(local("127.0.0.1").get("/jobs"), 503)


def test_local_run_with_tokens_requires_one(local, token, problem):
    problem(local("127.0.0.1").get("/jobs"), 401)


@pytest.mark.parametrize(
    "host", ["rebound.example", "localhost.example", "127.0.0.1.example:8080", "0.0.0.0", "127.0.0.1:x"]
)
def test_local_run_rejects_other_host_names(local, problem, host):
    problem(local("127.0.0.1", host="localhost").get("/jobs", headers={"host": host}), 403)


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://elsewhere.example"},
        {"origin": "null"},
        {"origin": "http://localhost:3000"},
        {"origin": "https://localhost:8080"},
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},
    ],
)
def test_local_run_rejects_cross_origin_pages(local, problem, headers):
    for method in ("GET", "POST", "OPTIONS"):
        problem(
            local("127.0.0.1", **headers).request(
                method, "/jobs", headers={"content-type": "application/json"}
            ),
            403,
        )


def test_local_run_accepts_the_console(local):
    caller = local("127.0.0.1", origin="http://localhost:8080", sec_fetch_site="same-origin")

    assert caller.post("/jobs", json={"kind": "echo"}).status_code == 201


@pytest.mark.parametrize(
    "content_type", [None, "text/plain", "multipart/form-data", "application/x-www-form-urlencoded"]
)
def test_local_run_rejects_cross_origin_forms(local, problem, content_type):
    job = local("127.0.0.1").post("/jobs", json={"kind": "echo", "delay": 60}).headers["location"]
    headers = {"content-type": content_type} if content_type else {}

    problem(local("127.0.0.1").post(f"{job}/cancel", headers=headers), 415)
    assert local("127.0.0.1").get(job).json()["state"] == "scheduled"
