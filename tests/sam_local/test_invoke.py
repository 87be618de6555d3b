"""`sam local invoke` with every file in events/: the response, and the rows afterwards."""

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from minutehand import Database, enqueue
from minutehand.queries import jobs as read
from tests.sam_local.sam import ROOT, Sam, until

EVENTS = ROOT / "events"
SHOWN = UUID("0198a5b0-0000-7000-8000-000000000001")
INVITED = [UUID("019a9e3c-7a10-7c3e-9d41-2f6c8b1e5a01"), UUID("019a9e3c-7a10-7c3e-9d41-2f6c8b1e5a02")]
ACKS = [UUID("5f0c7b52-6f0e-4a9a-8f0b-3a5f1f4f9c11"), UUID("c2a4f1de-1d0b-4a37-9a55-7c1d52f0b122")]
replayed: set[str] = set()

Invoke = Callable[[str, str], Any]


def replays(*names: str) -> pytest.MarkDecorator:
    """Run a test with these events, and record that they are tested."""
    replayed.update(names)
    return pytest.mark.parametrize("name", names)


@pytest.fixture
def invoke(sam: Sam) -> Invoke:
    """Invoke a function with the file of an event, and return the response."""
    return lambda function, name: sam.invoke(function, "--event", f"events/{name}.json").answer


def become(jobs: Database, job_id: UUID, ack: UUID | None = None) -> UUID:
    """Enqueue a job with the id of an event. It is offered if it has an ack."""
    made = enqueue("echo", {"job": str(job_id)}, delay=timedelta(hours=1), connection=jobs).id
    offered = "offered = now(), ack = %s, visible = now() + interval '2 minutes'" if ack else "ack = %s"
    jobs.connection.execute(
        f"update minutehand.jobs_live set id = %s, {offered} where id = %s", [job_id, ack, made]
    )
    return job_id


def facts(jobs: Database, *job_ids: UUID) -> list[tuple[str, int]]:
    """Return the states and attempts of jobs."""
    return [(row.state, row.attempts) for row in (read.get(jobs, job_id) for job_id in job_ids)]


def body(answer: dict[str, Any]) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(answer["body"])
    return content


@replays("api-post-job")
def test_api_enqueues_a_posted_job(invoke: Invoke, jobs: Database, name: str) -> None:
    answer = invoke("ApiFunction", name)

    row = read.get(jobs, UUID(body(answer)["id"]))
    assert answer["statusCode"] == 201
    assert (row.kind, row.key, row.state) == ("welcome", "welcome/ada", "scheduled")
    assert row.payload == {"email": "ada@example.com", "balance": 12345678901234567890}


@replays("api-get-job")
def test_api_shows_a_job(invoke: Invoke, jobs: Database, name: str) -> None:
    become(jobs, SHOWN)

    answer = invoke("ApiFunction", name)

    assert (answer["statusCode"], body(answer)["payload"]) == (200, {"job": str(SHOWN)})


@replays("api-list-jobs")
def test_api_lists_jobs(invoke: Invoke, jobs: Database, name: str) -> None:
    for _ in range(3):
        enqueue("echo", connection=jobs)

    answer = invoke("ApiFunction", name)

    assert (answer["statusCode"], len(body(answer)["jobs"])) == (200, 2)
    assert 'rel="next"' in answer["headers"]["link"]


@replays("api-cancel-job")
def test_api_cancels_a_job(invoke: Invoke, jobs: Database, name: str) -> None:
    become(jobs, SHOWN)

    answer = invoke("ApiFunction", name)

    assert (answer["statusCode"], body(answer)["state"]) == (200, "cancelled")
    assert facts(jobs, SHOWN) == [("cancelled", 0)]


@replays("api-stats-jwt")
def test_api_accepts_a_caller_authorized_by_the_gateway(invoke: Invoke, jobs: Database, name: str) -> None:
    assert invoke("ApiFunction", name)["statusCode"] == 200


@replays("scheduler-tick", "eventbridge-rule")
def test_tick_runs_the_job_in_another_container(
    invoke: Invoke, jobs: Database, start_lambda: str, name: str
) -> None:
    due, later = (
        enqueue("echo", connection=jobs).id,
        enqueue("echo", delay=timedelta(hours=1), connection=jobs).id,
    )

    answer = invoke("DispatcherFunction", name)

    assert (answer["due"], answer["offered"], answer["invoked"], answer["refused"]) == (1, 1, 1, 0)
    assert answer["lag_ms"] > 0
    until(lambda: facts(jobs, due) == [("done", 1)], lambda: facts(jobs, due))
    assert facts(jobs, later) == [("scheduled", 0)]


@replays("dispatcher-check")
def test_check_reaches_the_database_without_a_tick(
    invoke: Invoke, jobs: Database, start_lambda: str, name: str
) -> None:
    due = enqueue("echo", connection=jobs).id

    answer = invoke("DispatcherFunction", name)

    assert (answer["database"]["ok"], answer["database"]["error"]) == (True, "")
    assert facts(jobs, due) == [("due", 0)]
    (worker,) = answer["workers"].values()
    assert "DryRun is not supported" in worker["error"]


@replays("migrate-create", "migrate-update", "migrate-delete")
def test_deploy_creates_a_missing_schema_and_never_drops_one(sam: Sam, jobs: Database, name: str) -> None:
    if name != "migrate-delete":
        jobs.connection.execute("drop schema minutehand cascade")
    expected = {"migrate-delete": "the schema and its jobs remain"}.get(name, " 0001 tables, 0002 records,")

    assert expected in sam.invoke("MigrateFunction", "--event", f"events/{name}.json").log
    assert facts(jobs, enqueue("echo", connection=jobs).id) == [("due", 0)]


@replays("worker-offers")
def test_worker_runs_offered_jobs(invoke: Invoke, jobs: Database, name: str) -> None:
    for job_id, ack in zip(INVITED, ACKS, strict=True):
        become(jobs, job_id, ack)

    assert invoke("WorkerFunction", name) == {"done": 2}
    assert facts(jobs, *INVITED) == [("done", 1)] * 2
    assert read.get(jobs, INVITED[0]).result == {"job": str(INVITED[0])}


@replays("worker-duplicated")
def test_worker_runs_a_job_once_after_two_offers(invoke: Invoke, jobs: Database, name: str) -> None:
    become(jobs, INVITED[0], ACKS[0])

    assert invoke("WorkerFunction", name) == {"done": 1}
    assert facts(jobs, INVITED[0]) == [("done", 1)]


@replays("worker-empty")
def test_worker_without_an_offer_runs_no_job(invoke: Invoke, jobs: Database, name: str) -> None:
    due = enqueue("echo", connection=jobs).id

    assert invoke("WorkerFunction", name) == {}
    assert facts(jobs, due) == [("due", 0)]


@replays("worker-malformed")
def test_worker_rejects_a_malformed_event(invoke: Invoke, jobs: Database, name: str) -> None:
    become(jobs, INVITED[0], ACKS[0])

    assert invoke("WorkerFunction", name)["errorType"] == "EventError"
    assert facts(jobs, INVITED[0]) == [("offered", 0)]


@replays("worker-queue")
def test_worker_claims_the_next_due_job_of_a_queue(invoke: Invoke, jobs: Database, name: str) -> None:
    first, second = (enqueue("echo", connection=jobs).id for _ in range(2))

    assert invoke("WorkerFunction", name) == {"done": 1}
    assert facts(jobs, first, second) == [("done", 1), ("due", 0)]


def test_empty_event_runs_a_tick_and_is_rejected_by_the_worker(sam: Sam, jobs: Database) -> None:
    assert sam.invoke("DispatcherFunction").answer["due"] == 0
    assert sam.invoke("WorkerFunction").answer["errorType"] == "EventError"


def test_every_event_is_replayed() -> None:
    assert {path.stem for path in Path(EVENTS).glob("*.json")} == replayed
