"""Batches over HTTP: each item is accepted or rejected on its own."""

import json

from minutehand.queries import jobs as read

FAR = "2999-01-31T08:00:00+01:00"


def test_valid_batch_is_enqueued_completely(api, jobs):
    answer = api.post("/jobs/batch", json={"jobs": [{"kind": "echo", "payload": n} for n in range(1000)]})

    body = answer.json()
    assert (answer.status_code, body["created"], body["rejected"]) == (200, 1000, 0)
    assert [item["ordinal"] for item in body["items"]] == list(range(1000))
    assert read.get(jobs, body["items"][7]["id"]).payload == 7


def test_rejected_jobs_are_listed_and_the_others_enqueued(api, jobs):
    items = [
        {"kind": "echo"},
        {"kind": "no such name"},
        {"kind": "echo", "color": "red"},
        3,
        {"kind": "echo", "run_at": "2026-01-31T08:00:00"},
        {"kind": "echo", "delay": -1},
        {"kind": "echo"},
    ]
    answer = api.post("/jobs/batch", json={"jobs": items})

    body = answer.json()
    assert answer.status_code == 207
    assert (body["created"], body["replaced"], body["ignored"], body["rejected"]) == (2, 0, 0, 5)
    assert [item["outcome"] == "created" for item in body["items"]] == [True, *[False] * 5, True]
    problems = [item["problem"] for item in body["items"][1:-1]]
    assert [body.get("rule") for body in problems] == [
        "kind_is_a_name",
        None,
        None,
        None,
        "delay_is_not_negative",
    ]
    assert [body["errors"][0]["pointer"] for body in problems[1:4]] == [
        "#/jobs/2/color",
        "#/jobs/3",
        "#/jobs/4/run_at",
    ]
    assert sum(depth.jobs for depth in read.stats(jobs)) == 2


def test_keys_are_unique_within_a_batch_and_with_existing_jobs(api, jobs):
    items = [{"kind": "echo", "key": key, "run_at": FAR} for key in ("a", "b", "a")]

    first = api.post("/jobs/batch", json={"jobs": items}).json()
    ignored = api.post("/jobs/batch", json={"jobs": items[:2], "on_conflict": "ignore"}).json()
    raised = api.post("/jobs/batch", json={"jobs": [*items[:2], {"kind": "echo"}], "on_conflict": "raise"})

    assert (first["created"], first["ignored"]) == (2, 1)
    assert ignored["ignored"] == 2
    assert (raised.status_code, raised.json()["rejected"], raised.json()["created"]) == (207, 2, 1)
    assert {item["problem"]["status"] for item in raised.json()["items"][:2]} == {409}


def test_batch_has_one_to_a_thousand_jobs(api, jobs, problem):
    problem(api.post("/jobs/batch", json={"jobs": []}), 422)
    problem(api.post("/jobs/batch", json={"jobs": [{"kind": "echo"}] * 1001}), 422)
    problem(api.post("/jobs/batch", json=[{"kind": "echo"}]), 422)
    problem(api.post("/jobs/batch", json={"jobs": [{"kind": "echo"}], "on_conflict": "?"}), 422)
    problem(api.post("/jobs/batch", json={"jobs": [{"kind": "echo"}], "atomic": True}), 422)
    assert not read.stats(jobs)


def test_header_with_a_lone_surrogate_rejects_its_job_only(api):
    jobs = [{"kind": "echo", "headers": {"note": "\ud800"}}, {"kind": "echo"}]
    answer = api.post(
        "/jobs/batch", content=json.dumps({"jobs": jobs}), headers={"Content-Type": "application/json"}
    )

    assert answer.status_code == 207
    assert [item["outcome"] for item in answer.json()["items"]] == ["rejected", "created"]
    assert answer.json()["items"][0]["problem"]["rule"] == "headers_are_strings"
