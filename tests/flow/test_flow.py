"""From a request to a finished job, in this process and in the emulator."""

import json
from datetime import timedelta
from typing import Any

import pytest

from tests.flow.stage import Flow, event
from tests.retries import IN_AN_HOUR

pytestmark = pytest.mark.every_version


def post(job: dict[str, Any]) -> dict[str, Any]:
    """A request of the HTTP API that enqueues a job."""
    body = json.dumps(job)
    request = event("api-post-job")
    headers = request["headers"] | {"content-length": str(len(body))}
    return request | {"body": body, "headers": headers}


def test_request_creates_a_job_and_the_next_tick_runs_it(flow: Flow) -> None:
    answer = flow.home.request(post({"kind": "echo", "payload": {"n": 12345678901234567890}}))
    created = json.loads(answer["body"])

    assert answer["statusCode"] == 201
    assert flow.row(created["id"]).state == "due"
    flow.home.tick(event("scheduler-tick"))
    row = flow.row(created["id"])
    assert (row.state, row.attempts, row.result) == ("done", 1, {"n": 12345678901234567890})


def test_failing_job_is_retried_until_dead_and_future_job_waits(flow: Flow) -> None:
    failing = flow.enqueue(payload={"fail": "every time"}, max_attempts=2, retry=IN_AN_HOUR)
    later = flow.enqueue(delay=timedelta(hours=1))

    flow.home.tick(event("scheduler-tick"))
    assert (flow.row(failing).state, flow.row(later).state) == ("retrying", "scheduled")
    flow.sql("update minutehand.jobs_live set run_at = run_at, visible = now() where id = %(id)s", id=failing)
    flow.home.tick(event("scheduler-tick"))

    row = flow.row(failing)
    assert (row.state, row.attempts) == ("dead", 2)
    assert flow.row(later).state == "scheduled"


def test_duplicate_tick_runs_every_due_job_once(flow: Flow) -> None:
    jobs = [flow.enqueue(payload=number) for number in range(20)]

    flow.home.tick(event("scheduler-tick"))
    flow.home.tick(event("scheduler-tick"))

    assert [(flow.row(job).state, flow.row(job).attempts, flow.row(job).result) for job in jobs] == [
        ("done", 1, number) for number in range(20)
    ]


def test_request_without_a_token_enqueues_nothing(flow: Flow) -> None:
    request = post({"kind": "echo"})
    del request["headers"]["authorization"]

    assert flow.home.request(request)["statusCode"] == 401
    assert flow.sql("select count(*) from minutehand.jobs") == [(0,)]
