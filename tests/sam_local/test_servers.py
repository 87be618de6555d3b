"""`sam local start-api` and `start-lambda`: requests and invocations over HTTP."""

import json
from datetime import timedelta
from typing import Any
from uuid import UUID

import boto3
import httpx
from botocore.config import Config

from minutehand import Database, enqueue
from minutehand.queries import jobs as read
from tests.sam_local.sam import ENVIRONMENT, ROOT, SECONDS, until

TOKEN = json.loads((ROOT / ENVIRONMENT).read_text("utf-8"))["ApiFunction"]["MINUTEHAND_API_TOKENS"]


def client(url: str) -> Any:
    config = Config(read_timeout=SECONDS, retries={"total_max_attempts": 1})
    session = boto3.Session("key", "secret", region_name="us-east-1")
    return session.client("lambda", endpoint_url=url, config=config)


def test_request_creates_a_job(start_api: str, jobs: Database) -> None:
    with httpx.Client(base_url=start_api, timeout=SECONDS) as caller:
        health = caller.get("/health")
        unauthorized = caller.post("/jobs", json={"kind": "echo"})
        created = caller.post(
            "/jobs", json={"kind": "echo", "payload": [1]}, headers={"Authorization": f"Bearer {TOKEN}"}
        )

    assert (health.status_code, unauthorized.status_code, created.status_code) == (200, 401, 201)
    row = read.get(jobs, UUID(created.json()["id"]))
    assert (row.kind, row.payload, row.state) == ("echo", [1], "due")


def test_dispatcher_invokes_the_worker_in_another_container(start_lambda: str, jobs: Database) -> None:
    due = [enqueue("echo", {"number": number}, connection=jobs).id for number in range(2)]

    def tick() -> tuple[int, int, int, int]:
        answer = client(start_lambda).invoke(FunctionName="DispatcherFunction", Payload=b"{}")
        body = json.loads(answer["Payload"].read())
        return answer["StatusCode"], body["due"], body["invoked"], body["refused"]

    def states() -> list[tuple[str, int]]:
        return [(row.state, row.attempts) for row in (read.get(jobs, job_id) for job_id in due)]

    def done() -> bool:
        """Tick again if a container started after its offer had lapsed, as Lambda does every minute."""
        if ("due", 0) in states():
            tick()
        return states() == [("done", 1)] * 2

    assert tick() == (200, 2, 2, 0)
    until(done, states)


def test_event_is_accepted_before_it_runs_and_is_not_retried(start_lambda: str, jobs: Database) -> None:
    job = enqueue("echo", {"fail": "today"}, max_attempts=5, connection=jobs).id

    answer = client(start_lambda).invoke(
        FunctionName="WorkerFunction", InvocationType="Event", Payload=b'{"queue": "default"}'
    )

    assert answer["StatusCode"] == 202
    until(lambda: read.get(jobs, job).state == "retrying", lambda: read.get(jobs, job))
    assert read.get(jobs, job).attempts == 1
    assert read.get(jobs, job).visible > read.get(jobs, job).enqueued + timedelta(seconds=1)
