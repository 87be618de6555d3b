"""Errors are problem documents without internal details."""

import json
import socket
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from uuid import UUID

import pytest
from psycopg.conninfo import make_conninfo
from starlette.testclient import TestClient

from minutehand import Database, MinutehandError, errors
from minutehand.functions.api import dependencies
from minutehand.functions.api.dependencies import connect
from minutehand.functions.api.errors import library_problem
from tests.queue.logins import logins
from tests.servers import Database as Server

ARGUMENTS = {
    errors.UnfinishedError: ["the message", "running", timedelta(seconds=1)],
    errors.ConnectionTypeError: [str],
    errors.UnsuccessfulError: ["a job", "dead", None],
    errors.UndeclaredKindError: ["the message", None, ["shop.jobs"]],
}
NOWHERE = "postgresql://someone:s3cret@127.0.0.1:{port}/none"


@pytest.fixture
def unreachable(function, jobs, token):
    """The API with an unreachable database."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        nowhere = Database(NOWHERE.format(port=closed.getsockname()[1]))
        function.app.dependency_overrides[connect] = lambda: nowhere
        yield TestClient(function.app, headers={"Authorization": f"Bearer {token}"})


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nowhere", 404),
        ("GET", "/jobs/", 404),
        ("GET", "/docs", 404),
        ("DELETE", "/jobs", 405),
        ("PUT", "/stats", 405),
    ],
)
def test_routing_errors_are_problems(api, problem, method, path, status):
    answer = api.request(method, path)

    assert problem(answer, status)["type"] == "about:blank"
    assert (status == 405) == ("allow" in answer.headers)


@pytest.mark.parametrize("path", ["/jobs", "/stats", "/jobs/0198a5b0-0000-7000-8000-000000000001", "/health"])
def test_unreachable_database_is_a_503_with_retry_after(unreachable, problem, log, path):
    answer = unreachable.get(path)

    assert problem(answer, 503)["type"] == "urn:minutehand:problem:unavailable"
    assert answer.headers["retry-after"] == "5"
    assert "127.0.0.1" not in answer.text
    assert "cannot be reached" in log.getvalue()
    assert "s3cret" not in log.getvalue() + answer.text


def test_health_does_not_use_the_database_without_a_token(unreachable, problem):
    problem(unreachable.get("/health"), 503)
    answer = unreachable.get("/health", headers={"Authorization": "Bearer of a stranger"})

    assert (answer.status_code, answer.json()) == (200, {"status": "ok", "database": "unchecked"})


def test_enqueuing_without_a_database_is_a_503(unreachable, problem):
    problem(unreachable.post("/jobs", json={"kind": "echo"}), 503)
    problem(unreachable.post("/jobs/batch", json={"jobs": [{"kind": "echo"}]}), 503)


def test_database_without_the_schema_is_a_503(empty_database, on_database, function, token, problem, log):
    on_database(empty_database)
    caller = TestClient(function.app, headers={"Authorization": f"Bearer {token}"})

    for path in ("/jobs", "/health"):
        assert "relation" not in problem(caller.get(path), 503)["detail"]
    assert "minutehand migrate" in log.getvalue()


def test_read_only_database_is_a_503(api, database, jobs, problem):
    name = jobs.connection.info.dbname
    jobs.close()
    with Database(database.admin_url).connection as admin:
        admin.execute(f"alter database {name} set default_transaction_read_only = on")

    problem(api.post("/jobs", json={"kind": "echo"}), 503)


def test_missing_setting_is_a_500_without_its_name(function, jobs, token, problem, log):
    function.app.dependency_overrides.pop(connect)

    answer = TestClient(function.app, headers={"Authorization": f"Bearer {token}"}).get("/jobs")

    assert "DATABASE_URL" not in problem(answer, 500)["detail"]
    assert "DATABASE_URL" in log.getvalue()


def test_unexpected_error_is_a_500_without_details(api, function, problem, log):
    def fail():
        raise ZeroDivisionError("-".join(["s3", "cret"]))

    function.app.dependency_overrides[connect] = fail
    answer = api.get("/jobs")

    assert problem(answer, 500)["type"] == "urn:minutehand:problem:internal"
    assert "s3-cret" not in answer.text + log.getvalue()
    crashed = json.loads(log.getvalue().splitlines()[0])
    assert (crashed["message"], crashed["error_type"]) == ("crashed", "ZeroDivisionError")
    assert "in fail" in crashed["trace"]


def test_every_library_error_has_a_status(function, jobs):
    def all_of(root):
        return {root}.union(
            *(all_of(kind) for kind in root.__subclasses__() if kind.__module__ == errors.__name__)
        )

    for kind in all_of(MinutehandError):
        error = kind(
            *ARGUMENTS.get(
                kind, ["rule", "the message"] if issubclass(kind, errors.InvalidJobError) else ["the message"]
            )
        )
        details = library_problem(error)
        assert details["status"] in (403, 404, 409, 422, 500, 503)
        assert ("the message" in details["detail"]) == (details["status"] in (404, 409, 422))


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [("POST", "/jobs/change", {"verb": "promote", "ids": [str(UUID(int=0))]}), ("GET", "/jobs", None)],
)
def test_missing_privilege_is_a_403_and_only_the_log_names_it(
    direct_database, on_database, function, token, problem, log, method, path, body
):
    token_header = {"Authorization": f"Bearer {token}"}
    with logins(direct_database) as login:
        user = login("enqueuer").connection.info.user
        url = make_conninfo(direct_database.url, user=user, password="x")
        database = on_database(Server(url, direct_database.admin_url))
        details = problem(
            TestClient(function.app, headers=token_header).request(method, path, json=body), 403
        )
        database.close()

    assert details["type"] == "urn:minutehand:problem:forbidden"
    assert "permission denied" not in details["detail"]
    assert "permission denied" in log.getvalue()


def test_each_request_is_one_log_line_without_its_body(api, log):
    api.post("/jobs", json={"kind": "echo", "payload": "s3cret", "key": "s3cret"})
    api.get("/jobs?key=s3cret")
    api.post("/jobs", json={"kind": "s3cret!"})

    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    assert [(line["message"], line["method"], line["route"], line["status"]) for line in lines] == [
        ("request", "POST", "/jobs", 201),
        ("request", "GET", "/jobs", 200),
        ("request", "POST", "/jobs", 422),
    ]
    assert [line["outcomes"] for line in lines] == [{"created": 1}, {}, {"rejected": 1}]
    assert (lines[2]["problem"], lines[2]["rule"]) == ("invalid", "kind_is_a_name")
    assert "s3cret" not in log.getvalue()


def test_no_response_may_be_cached(api):
    for path in ("/jobs", "/health", "/nowhere"):
        assert api.get(path).headers["cache-control"] == "no-store"


def test_concurrent_requests_do_not_share_a_connection(function, database, jobs, token, monkeypatch):
    monkeypatch.setenv("DATABASE_URL", database.url)
    function.app.dependency_overrides.clear()
    batch = {"jobs": [{"kind": "echo"}, {"kind": "not a name"}, {"kind": "echo"}]}

    def send(_: int) -> list[int]:
        caller = TestClient(function.app, headers={"Authorization": f"Bearer {token}"})
        return [
            caller.post("/jobs/batch", json=batch).status_code,
            caller.post("/jobs", json={"kind": "echo"}).status_code,
        ]

    with ThreadPoolExecutor(12) as threads:
        statuses = list(threads.map(send, range(24)))
    lent = [dependencies._idle.get_nowait() for _ in range(dependencies.POOL_SIZE)]
    for database in lent:
        database.close()
        dependencies._idle.put(database)

    assert statuses == [[207, 201]] * 24
