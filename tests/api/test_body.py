"""Request bodies: strict JSON within the size limit."""

import json

import pytest

from minutehand.queries import jobs as read

MEBIBYTE = 1024 * 1024
JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b'{"kind": "echo"',
        b'{"kind": "echo",}',
        b"{'kind': 'echo'}",
        b'{"kind": "echo", "payload": NaN}',
        b'{"kind": "echo", "payload": -Infinity}',
        b'{"kind": "echo", "kind": "http"}',
        b'{"kind": "echo", "payload": {"a": 1, "a": 2}}',
        b'{"kind": "echo", "payload": "\xff"}',
        b'\xef\xbb\xbf{"kind": "echo"}',
        '{"kind": "echo"}'.encode("utf-16"),
        b'{"kind": "echo", "payload": ' + b"1" * 5000 + b"}",
        b'{"kind": "echo", "payload": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    ],
)
def test_invalid_json_is_rejected(api, jobs, problem, body):
    details = problem(api.post("/jobs", content=body, headers=JSON), 400)

    assert details["type"] == "urn:minutehand:problem:broken-json"
    assert not read.stats(jobs)


@pytest.mark.parametrize(
    "body", [rb'{"kind": "echo", "payload": 1e400}', rb'{"kind": "echo", "payload": "\ud800"}']
)
def test_payload_that_cannot_be_stored_is_rejected(api, jobs, problem, body):
    assert problem(api.post("/jobs", content=body, headers=JSON), 422)["rule"] == "payload_is_json"


@pytest.mark.parametrize(
    "body", [rb'{"kind": "\ud800"}', rb'{"kind": "echo", "\ud800": 1}', rb'{"kind": "e\u0000"}']
)
def test_invalid_text_is_rejected(api, jobs, problem, body):
    problem(api.post("/jobs", content=body, headers=JSON), 422)


@pytest.mark.parametrize(
    "content_type", [None, "text/plain", "application/x-www-form-urlencoded", "application/xml"]
)
def test_only_json_is_accepted(api, jobs, problem, content_type):
    headers = {"Content-Type": content_type} if content_type else {}

    details = problem(api.post("/jobs", content=b'{"kind": "echo"}', headers=headers), 415)

    assert details["type"] == "urn:minutehand:problem:not-json"


def test_content_type_may_have_a_charset(api, jobs):
    headers = {"Content-Type": "Application/JSON; charset=utf-8"}

    assert api.post("/jobs", content=b'{"kind": "echo"}', headers=headers).status_code == 201


@pytest.mark.parametrize(("path", "most"), [("/jobs", MEBIBYTE), ("/jobs/batch", 6 * MEBIBYTE)])
def test_body_above_the_size_limit_is_rejected(api, jobs, problem, path, most):
    problem(api.post(path, content=b" " * (most + 1), headers=JSON), 413)
    problem(api.post(path, content=b" " * most, headers=JSON), 400)


def test_chunked_body_is_limited_while_it_is_read(api, jobs, problem):
    sent = 0

    def chunks():
        nonlocal sent
        while sent < 64:
            sent += 1
            yield b" " * MEBIBYTE

    problem(api.post("/jobs", content=chunks(), headers=JSON), 413)


def test_action_without_a_body_rejects_one(api, jobs, problem):
    path = f"/jobs/{api.post('/jobs', json={'kind': 'echo'}).json()['id']}"

    problem(api.post(f"{path}/promote", json={"delay": 5}), 422)
    assert api.post(f"{path}/promote", json={}).status_code == 200


def test_problem_does_not_quote_the_request(api, jobs, problem):
    for body in (
        '{"kind": "s3cret" oops',
        json.dumps({"kind": "echo", "payload": 1, "delay": "s3cret", "key": ["s3cret"]}),
    ):
        answer = api.post("/jobs", content=body, headers=JSON)
        assert 400 <= answer.status_code < 500
        assert "s3cret" not in answer.text
