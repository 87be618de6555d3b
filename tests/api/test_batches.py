"""Batches over HTTP: each route maps its request, its answer and its errors. tests/queue tests what batches do."""

from uuid import uuid4

import pytest

from minutehand.claimed_job import Job
from minutehand.operations.audit import list_audit
from minutehand.queries import jobs as read
from minutehand.queries.batches import get_batch
from tests.api.stage import claim_one, finish

ERROR = {"type": "ValueError", "message": "no", "trace": ""}
COUNTS = ("total", "open", "done", "dead", "expired", "cancelled")


@pytest.fixture
def path(api) -> str:
    """The path of an open batch without jobs."""
    return opened(api, name="May")


def opened(api, **request) -> str:
    """Open a batch, and return its path."""
    return str(api.post("/batches", json=request).headers["Location"])


def add(api, path: str, count: int = 1, **options) -> list[str]:
    """Enqueue jobs of a batch, and return their ids."""
    job = {"kind": "echo", "batch": id_of(path), **options}
    return [api.post("/jobs", json=job).json()["id"] for _ in range(count)]


def id_of(path: str) -> str:
    return path.removeprefix("/batches/")


def counts(api, path: str) -> dict[str, int]:
    """Return the counts of a batch that are not zero."""
    body = api.get(path).json()
    return {name: body[name] for name in COUNTS if body[name]}


def kill(jobs) -> Job:
    """Let the next job die."""
    job = claim_one(jobs)
    finish(job, error=ERROR)
    return job


def test_opening_a_batch_maps_every_field(api, jobs):
    alert = {"kind": "alert", "queue": "ops", "payload": {"to": "ada"}, "max_attempts": 2}
    outer = opened(api, tenant="acme")
    request = {"on_complete": "report", "on_failure": alert, "name": "May", "tenant": "acme"}
    answer = api.post("/batches", json={**request, "parent": id_of(outer)})

    body = answer.json()
    row = get_batch(jobs, body["id"])
    assert (answer.status_code, answer.headers["Location"]) == (201, f"/batches/{body['id']}")
    assert (row.on_complete, row.on_failure, row.name, row.tenant) == ("report", "alert", "May", "acme")
    assert (str(row.parent), row.state) == (id_of(outer), "open")


def test_job_with_a_batch_is_added_to_it(api, jobs, path):
    one = add(api, path)[0]
    many = [{"kind": "echo", "batch": id_of(path)} for _ in range(3)]

    assert api.post("/jobs/batch", json={"jobs": many}).json()["created"] == 3
    assert counts(api, path) == {"total": 4, "open": 4}
    assert str(read.get(jobs, one).batch) == id_of(path)


def test_job_of_an_unknown_batch_is_refused(api, problem):
    body = problem(api.post("/jobs", json={"kind": "echo", "batch": str(uuid4())}), 422)

    assert body["rule"] == "batch_is_open"


def test_progress_is_read_from_the_counts(api, jobs, path):
    add(api, path, 3)
    kill(jobs)
    finish(claim_one(jobs))

    assert counts(api, path) == {"total": 3, "open": 1, "done": 1, "dead": 1}
    assert api.get(path).json()["state"] == "open"


def test_closed_batch_ends_with_its_last_job(api, jobs):
    path = opened(api, on_complete="report")
    add(api, path)

    assert [api.post(f"{path}/close").json() for _ in range(2)] == [{"closed": True}, {"closed": False}]
    assert api.get(path).json()["state"] == "closed"
    finish(claim_one(jobs))
    body = api.get(path).json()
    assert body["state"] == "ended"
    assert read.get(jobs, body["complete_job"]).kind == "report"


def test_callback_of_a_failure_has_its_options(api, jobs):
    path = opened(api, on_complete="report", on_failure={"kind": "alert", "payload": {"to": "ada"}})
    add(api, path)
    api.post(f"{path}/close")
    kill(jobs)

    body = api.get(path).json()
    callback = read.get(jobs, body["failure_job"])
    assert (body["state"], body["complete_job"], callback.kind) == ("ended", None, "alert")
    assert callback.payload["to"] == "ada"


def test_cancel_lists_each_job_and_records_the_reason(api, jobs, path):
    ids = add(api, path, 3)
    request = {"reason": "wrong month", "limit": 2}
    answers = [api.post(f"{path}/cancel", json=request).json() for _ in range(2)]

    assert [answer["changed"] for answer in answers] == [2, 1]
    assert [item["id"] for answer in answers for item in answer["jobs"]] == sorted(ids)
    assert counts(api, path) == {"total": 3, "cancelled": 3}
    assert {entry.facts["reason"] for entry in list_audit(jobs, verb="cancel")} == {"wrong month"}


def test_cancel_requests_running_jobs_to_stop_if_asked(api, jobs, path):
    add(api, path, 2)
    running = claim_one(jobs)

    assert api.post(f"{path}/cancel", json={"limit": 1}).json()["changed"] == 1
    answer = api.post(f"{path}/cancel", json={"running": True}).json()
    assert (answer["requested"], answer["jobs"][0]["id"]) == (1, str(running.id))


def test_retry_runs_failed_jobs_again_up_to_the_limit(api, jobs, path):
    add(api, path, 3)
    dead = sorted(str(kill(jobs).id) for _ in range(2))
    answers = [api.post(f"{path}/retry", json={"limit": 1}).json() for _ in range(3)]

    assert [item["id"] for answer in answers for item in answer["jobs"]] == dead
    assert [answer["changed"] for answer in answers] == [1, 1, 0]
    assert counts(api, path) == {"total": 3, "open": 3}


def test_batches_are_listed_by_page_and_by_parent(api, path):
    others = [opened(api, parent=id_of(path)) for _ in range(2)]
    page = api.get("/batches", params={"limit": 2}).json()
    rest = api.get("/batches", params={"before": page["before"]}).json()

    found = [each["id"] for each in (*page["batches"], *rest["batches"])]
    assert found == [id_of(each) for each in (*reversed(others), path)]
    assert rest["before"] is None
    nested = api.get("/batches", params={"parent": id_of(path)}).json()["batches"]
    assert [each["id"] for each in nested] == found[:2]


@pytest.mark.parametrize("verb", ["", "/close", "/cancel", "/retry"])
def test_missing_batch_is_a_problem_of_its_own(api, problem, verb):
    path = f"/batches/{uuid4()}{verb}"
    answer = api.post(path, json={}) if verb else api.get(path)

    assert problem(answer, 404)["type"].endswith("no-such-batch")


@pytest.mark.parametrize(
    ("verb", "request_body"),
    [
        ("cancel", {"limit": 0}),
        ("cancel", {"running": 1}),
        ("retry", {"limit": 1001}),
        ("retry", {"ids": []}),
    ],
)
def test_invalid_change_of_a_batch_is_refused(api, problem, path, verb, request_body):
    problem(api.post(f"{path}/{verb}", json=request_body), 422)
