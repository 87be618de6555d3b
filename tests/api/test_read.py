"""Read over HTTP: one job, pages of jobs, counts and health."""

from uuid import uuid4

import pytest

from minutehand import enqueue, enqueue_many
from minutehand.finish import finish as finish_job
from minutehand.model.new_job import NewJob
from minutehand.model.outcome import Done
from tests.api.stage import claim_one, finish


def test_payload_headers_and_trace_are_masked_by_default(api, dead):
    masked = api.get(f"/jobs/{dead.id}")
    whole = api.get(f"/jobs/{dead.id}?include=payload").json()

    assert "secret" not in masked.text
    assert masked.json()["error"] == {"type": "ValueError", "message": "no"}
    assert (whole["payload"], whole["headers"], whole["result"]) == (
        {"secret": "payload"},
        {"secret": "header"},
        None,
    )
    assert whole["error"]["trace"] == "the secret trace"
    assert "secret" not in api.get("/jobs").text


def test_result_is_included_with_the_payload(api, jobs):
    enqueue("echo", connection=jobs)
    job = claim_one(jobs)
    finish(job, result={"sent": 2**70})

    assert api.get(f"/jobs/{job.id}?include=payload").json()["result"] == {"sent": 2**70}


def test_dropped_results_are_listed_with_their_stage(api, jobs):
    for stage in ({}, {"stage": "result"}):
        enqueue("echo", connection=jobs)
        finish_job(claim_one(jobs), Done(error={"type": "ResultError", "message": "not JSON", **stage}))

    page = api.get("/jobs?result_dropped=true&limit=1&total=true").json()

    assert [job["error"]["stage"] for job in page["jobs"]] == ["result"]
    assert (page["total"], page["next"]) == (1, None)


def test_read_of_an_unknown_job_is_a_404(api, problem):
    assert problem(api.get(f"/jobs/{uuid4()}"), 404)["type"] == "urn:minutehand:problem:no-such-job"


def test_invalid_id_is_rejected(api, problem):
    assert problem(api.get("/jobs/1;drop"), 422)["errors"][0]["parameter"] == "id"


def test_listing_is_filtered(api, jobs, dead):
    for kind, queue, key in [
        ("a", "one", "x"),
        ("b", "one", None),
        ("a", "two", "ä&b=c"),
        ("http", "three", None),
    ]:
        enqueue(kind, queue=queue, key=key, connection=jobs)

    def keys(**filters: object) -> list[tuple[str, str]]:
        return [(job["kind"], job["queue"]) for job in api.get("/jobs", params=filters).json()["jobs"]]

    assert keys(queue="one") == [("b", "one"), ("a", "one")]
    assert keys(kind="a") == [("a", "two"), ("a", "one")]
    assert keys(key="ä&b=c") == [("a", "two")]
    assert keys(state="dead") == [("echo", "default")]
    assert len(keys(state=["dead", "due"])) == 5
    assert keys(state=["running", "done"]) == []
    assert keys(queue="' or true --") == []


@pytest.mark.parametrize(
    "query",
    [
        "state=late",
        "limit=0",
        "limit=1001",
        "limit=1e3",
        "limit=99999999999999999999",
        "before=x",
        "status=dead",
        "queue=%00",
        "include=payload",
        "kind=a&kind=b&x",
        "header=request",
        "header==7",
        "priority=10",
        "priority=high",
    ],
)
def test_listing_rejects_invalid_parameters(api, problem, query):
    problem(api.get(f"/jobs?{query}"), 422)


def test_pages_return_each_job_once_while_others_are_enqueued(api, jobs):
    before = [became.id for became in enqueue_many([NewJob("echo")] * 25, connection=jobs)]
    enqueue("other", connection=jobs)
    seen, path, pages = [], "/jobs?kind=echo&state=due&state=retrying&limit=4", 0
    while path and pages < 25:
        answer = api.get(path)
        seen += [job["id"] for job in answer.json()["jobs"]]
        path, pages = answer.json()["next"], pages + 1
        assert answer.links.get("next", {}).get("url") == path
        enqueue("echo", connection=jobs)

    assert sorted(seen) == sorted(str(job_id) for job_id in before)
    assert pages == 7


def test_next_link_keeps_unusual_filters(api, jobs):
    headers = {"trace": "a=b&c", "request": "7"}
    for _ in range(2):
        enqueue("echo", key=f"a&b=ä/ %{_}", queue=f"q{_}", headers=headers, priority=9, connection=jobs)
    enqueue("echo", headers={"trace": "a=b&c"}, connection=jobs)

    filters = {"header": ["trace=a=b&c", "request=7"], "priority": 9}
    page = api.get("/jobs", params=filters | {"limit": 1}).json()

    assert [job["queue"] for job in api.get(page["next"]).json()["jobs"]] == ["q0"]


def test_stats_count_by_queue_and_state(api, jobs, dead):
    enqueue("echo", queue="slow", connection=jobs)

    depths = api.get("/stats").json()["depths"]

    assert [(d["queue"], d["state"], d["jobs"]) for d in depths] == [
        ("default", "dead", 1),
        ("slow", "due", 1),
    ]


def test_stats_report_that_everything_is_paused(api):
    assert api.get("/stats").json()["paused"] is None
    api.post("/controls/pause", json={"everything": True, "reason": "upgrade"})

    paused = api.get("/stats").json()["paused"]
    assert (paused["reason"], paused["until"]) == ("upgrade", None)


def test_health_returns_only_its_status(api):
    answer = api.get("/health")

    assert (answer.status_code, answer.json()) == (200, {"status": "ok", "database": "ok"})


def test_stats_with_a_limit_mark_what_may_be_more(api, jobs, dead, problem):
    for _ in range(3):
        enqueue("echo", queue="slow", connection=jobs)

    depths = api.get("/stats?limit=2").json()["depths"]

    assert [(d["queue"], d["state"], d["jobs"], d["more"]) for d in depths] == [
        ("default", "dead", 1, False),
        ("slow", "due", 2, True),
    ]
    assert problem(api.get("/stats?limit=2&by=kind"), 422)["rule"] == "limit_is_by_queue"
