"""The API function with real events of an HTTP API and a real database."""

import base64
import json
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import pytest

from minutehand import enqueue
from minutehand.queries import jobs as read

EVENTS = Path(__file__).parents[2] / "events"
PLACEHOLDER = "0198a5b0-0000-7000-8000-000000000001"


@dataclass(frozen=True)
class Context:
    """The context of an invocation."""

    function_name: str = "api"
    memory_limit_in_mb: int = 256
    invoked_function_arn: str = "arn:aws:lambda:eu-central-1:123456789012:function:api"
    aws_request_id: str = "52fdfc07-2182-454f-963f-5f0f9a621d72"

    def get_remaining_time_in_millis(self) -> int:
        return 30_000


@pytest.fixture
def call(function, jobs, monkeypatch):
    """Send an event to the function, as Lambda does."""
    monkeypatch.setenv("AWS_LAMBDA_FUNCTION_NAME", "api")

    def answer(event):
        response = function.handler(event, Context())
        assert response["isBase64Encoded"] is False
        return response["statusCode"], response["headers"], json.loads(response["body"])

    return answer


def event(name: str, job_id: object = PLACEHOLDER):
    return json.loads((EVENTS / f"{name}.json").read_text().replace(PLACEHOLDER, str(job_id)))


def test_post_job(call, jobs, token):
    status, headers, body = call(event("api-post-job"))

    row = read.get(jobs, body["id"])
    assert (status, headers["location"], headers["content-type"]) == (
        201,
        f"/jobs/{body['id']}",
        "application/json",
    )
    assert (row.kind, row.key, row.state) == ("welcome", "welcome/ada", "scheduled")
    assert row.payload == {"email": "ada@example.com", "balance": 12345678901234567890}
    assert call(event("api-post-job"))[0] == 200


def test_list_jobs(call, jobs, token):
    for _ in range(3):
        enqueue("echo", connection=jobs)

    status, headers, body = call(event("api-list-jobs"))

    assert (status, len(body["jobs"])) == (200, 2)
    assert headers["link"] == f'<{body["next"]}>; rel="next"'
    assert body["next"] == f"/jobs?state=due&state=scheduled&limit=2&before={body['before']}"


def test_get_job(call, jobs, token):
    job_id = enqueue("echo", {"ä": 1e22}, connection=jobs).id

    status, _, body = call(event("api-get-job", job_id))

    assert (status, body["payload"]) == (200, {"ä": 1e22})


def test_cancel_job(call, jobs, token):
    job_id = enqueue("echo", connection=jobs).id

    assert call(event("api-cancel-job", job_id))[2]["state"] == "cancelled"
    status, headers, body = call(event("api-cancel-job", job_id))
    assert (status, headers["content-type"], body["state"]) == (409, "application/problem+json", "cancelled")


def test_caller_authorized_by_the_gateway_needs_no_token(call, jobs):
    vouched = event("api-stats-jwt")

    assert call(vouched)[0] == 200
    for authorizer in ({}, None):
        vouched["requestContext"]["authorizer"] = authorizer
        assert call(vouched)[0] == 503


@pytest.mark.parametrize("name", [path.stem for path in sorted(EVENTS.glob("api-*.json"))])
def test_every_event_without_a_token_is_rejected(call, token, name):
    stripped = event(name)
    stripped["headers"].pop("authorization")
    stripped["requestContext"].pop("authorizer", None)

    assert call(stripped)[0] == 401


def test_forged_local_event_is_rejected(call, monkeypatch):
    monkeypatch.setenv("MINUTEHAND_LOCAL", "1")
    monkeypatch.delenv("AWS_LAMBDA_FUNCTION_NAME")
    forged = event("api-list-jobs")
    forged["requestContext"]["http"]["sourceIp"] = "127.0.0.1"
    forged["headers"] = {"host": "localhost"}

    assert call(forged)[0] == 503


def test_base64_body_is_decoded(call, jobs, token):
    encoded = event("api-post-job")
    encoded |= {"body": base64.b64encode(encoded["body"].encode()).decode(), "isBase64Encoded": True}

    assert call(encoded)[0] == 201


def test_log_has_the_request_id_and_metrics_the_outcome(call, token, log: StringIO, capsys):
    call(event("api-post-job"))
    call(event("api-post-job") | {"body": '{"kind": "?"}'})

    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    emitted = [
        json.loads(line) for line in capsys.readouterr().out.splitlines() if "CloudWatchMetrics" in line
    ]
    assert {line["correlation_id"] for line in lines} == {"YDkY2jFkliAEPMA="}
    assert [line["message"] for line in lines] == ["request", "request"]
    assert "ada@example.com" not in log.getvalue()
    assert [(each.get("created"), each.get("rejected"), each["requests"]) for each in emitted] == [
        ([1.0], None, [1.0]),
        (None, [1.0], [1.0]),
    ]
