"""Control over HTTP: edits, bulk changes, pauses, limits, retries and the audit trail."""

from uuid import uuid4

import pytest

from minutehand import enqueue
from minutehand.operations.controls import list_controls
from minutehand.queries import jobs as read
from tests.api.stage import TOKEN, finish

FAR = "2999-01-31T08:00:00+01:00"


@pytest.fixture
def later(api, jobs) -> str:
    """The path of a scheduled job."""
    return api.post("/jobs", json={"kind": "echo", "payload": "before", "run_at": FAR}).headers["location"]


def payload_of(api, path):
    return api.get(path, params={"include": "payload"}).json()["payload"]


def test_edit_changes_only_the_given_fields(api, later):
    answer = api.patch(later, json={"payload": {"n": 12345678901234567890}, "priority": 9, "timeout": "PT1M"})

    assert (answer.status_code, answer.json()["priority"], answer.json()["timeout"]) == (200, 9, 60)
    assert answer.json()["max_attempts"] == 8
    assert payload_of(api, later) == {"n": 12345678901234567890}
    api.patch(later, json={"retry": {"strategy": "fixed", "min": 5}})
    api.patch(later, json={"expires": "P1D", "on_dead": {"kind": "alert", "retry": {"strategy": "fixed"}}})
    shown = api.get(f"{later}?include=payload").json()
    assert (shown["expires"], shown["on_dead"]["retry"]["strategy"]) == (86400, "fixed")
    assert payload_of(api, later) == {"n": 12345678901234567890}


def test_running_job_is_not_edited_deleted_or_replayed(api, running, problem):
    path = f"/jobs/{running.id}"
    for answer in (api.patch(path, json={"payload": 1}), api.delete(path), api.post(f"{path}/replay")):
        assert problem(answer, 409)["state"] == "running"


@pytest.mark.parametrize(
    "changes", [{}, {"priority": 10}, {"priority": "9"}, {"payloads": 1}, {"headers": {"a": 1}}, []]
)
def test_invalid_edit_is_rejected(api, later, problem, changes):
    problem(api.patch(later, json=changes), 422)


def test_unknown_job_is_a_404(api, problem):
    path = f"/jobs/{uuid4()}"
    for answer in (api.patch(path, json={"payload": 1}), api.delete(path), api.post(f"{path}/replay")):
        problem(answer, 404)


def test_finished_job_is_replayed_as_a_new_one(api, dead):
    answer = api.post(f"/jobs/{dead.id}/replay", json={"max_attempts": 3})

    assert (answer.status_code, answer.json()["state"], answer.json()["max_attempts"]) == (201, "due", 3)
    assert answer.headers["location"] == f"/jobs/{answer.json()['id']}" != f"/jobs/{dead.id}"
    assert payload_of(api, answer.headers["location"]) == {"secret": "payload"}


def test_job_is_deleted(api, later, problem):
    assert api.delete(later).json()["outcome"] == "changed"
    problem(api.get(later), 404)


def test_running_job_is_cancelled_at_its_next_check(api, running, problem):
    problem(api.post(f"/jobs/{running.id}/cancel"), 409)
    answer = api.post(f"/jobs/{running.id}/cancel", json={"reason": "stop", "running": True})

    assert (answer.status_code, answer.json()["state"]) == (200, "running")
    with pytest.raises(Exception, match="stop"):
        running.check()


def test_bulk_change_reports_each_job(api, jobs, running, later):
    nowhere = str(uuid4())
    answer = api.post(
        "/jobs/change", json={"verb": "cancel", "ids": [later.split("/")[2], str(running.id), nowhere]}
    )
    body = answer.json()

    assert (answer.status_code, body["changed"], body["refused"], body["absent"]) == (200, 1, 1, 1)
    assert [job["outcome"] for job in body["jobs"]] == ["changed", "refused", "absent"]
    for verb in ("retry", "promote", "delete"):
        body = api.post("/jobs/change", json={"verb": verb, "ids": [later.split("/")[2]]}).json()
        assert (verb, body["changed"]) == (verb, 1)


@pytest.mark.parametrize(
    "command", [{"verb": "purge", "ids": ["x"]}, {"verb": "cancel", "ids": []}, {"verb": "reschedule"}]
)
def test_invalid_bulk_change_is_rejected(api, command, problem):
    problem(api.post("/jobs/change", json=command), 422)


def test_queue_is_paused_and_resumed(api, jobs):
    enqueue("echo", queue="mail", connection=jobs)
    paused = api.post("/controls/pause", json={"queue": "mail", "until": FAR, "reason": "release"})

    assert (paused.status_code, paused.json()["paused"]) == (200, True)
    (body,) = api.get("/controls").json()["controls"]
    assert (body["queue"], body["reason"], body["busy"]) == ("mail", "release", 0)
    assert api.post("/controls/resume", json={"queue": "mail"}).json() == {"ended": True}
    assert api.post("/controls/resume", json={"queue": "mail"}).json() == {"ended": False}
    assert list_controls(jobs) == []


def test_everything_is_paused_and_resumed(api, jobs, problem):
    paused = api.post("/controls/pause", json={"everything": True})

    assert (paused.status_code, paused.json()["queue"], paused.json()["paused"]) == (200, "", True)
    problem(api.post("/controls/pause", json={"everything": True, "queue": "mail"}), 422)
    problem(api.post("/controls/pause", json={}), 422)
    assert api.post("/controls/resume", json={"everything": True}).json() == {"ended": True}
    assert list_controls(jobs) == []


def test_tenant_gets_a_weight(api, problem):
    made = api.post("/controls/share", json={"tenant": "acme", "queue": "mail", "weight": 3})

    assert (made.status_code, made.json()["weight"]) == (200, 3)
    page = api.get("/controls/shares", params={"limit": 1}).json()
    assert (page["shares"], page["after"]) == ([made.json()], "acme/mail")
    assert api.get("/controls/shares", params={"after": page["after"]}).json()["shares"] == []
    assert api.post("/controls/unshare", json={"tenant": "acme"}).json() == {"ended": False}
    assert api.post("/controls/unshare", json={"tenant": "acme", "queue": "mail"}).json() == {"ended": True}
    problem(api.post("/controls/share", json={"tenant": "acme", "weight": 0}), 422)


def test_group_gets_a_breaker(api, problem):
    body = {"per": "group", "queue": "sync", "break_after": 5, "break_for": "PT2M"}
    made = api.post("/controls/limit", json=body).json()

    assert (made["break_after"], made["break_for"]) == (5, 120)
    assert [each["open"] for each in api.get("/controls").json()["controls"]] == [0]
    problem(api.post("/controls/limit", json={"queue": "sync", "break_after": 5}), 422)


def test_kind_is_limited(api, jobs, problem):
    assert api.post("/controls/limit", json={"kind": "slow", "limit": 2}).json()["limit"] == 2
    assert [each.limit for each in list_controls(jobs)] == [2]
    assert api.post("/controls/unlimit", json={"kind": "slow"}).json() == {"ended": True}
    problem(api.post("/controls/limit", json={"limit": 2}), 422)
    problem(api.post("/controls/limit", json={"kind": "slow", "limit": -1}), 422)


def test_dead_jobs_are_retried_and_finished_jobs_replayed(api, jobs, dead):
    body = api.post(
        "/jobs/replay", json={"state": ["dead"], "older_than": "2.0", "suffix": "/2", "window": "PT1H"}
    ).json()
    assert body["changed"] == 1
    assert read.get(jobs, body["jobs"][0]["new"]).key == "dead/2"
    assert api.post("/jobs/retry", json={"per_minute": 60, "queue": "default"}).json()["changed"] == 1
    assert read.get(jobs, dead.id).state in ("due", "scheduled")


def test_queue_is_deleted_only_with_the_confirmation(api, jobs, later, running, problem):
    refused = problem(api.post("/queues/default/delete", json={"confirm": "yes"}), 422)
    answer = api.post("/queues/default/delete", json={"confirm": "default"})

    assert refused["rule"] == "deletion_is_confirmed"
    assert answer.json() == {"deleted": 1}
    assert read.get(jobs, running.id).state == "running"


def test_audit_trail_has_the_token_name_and_no_payload(api, monkeypatch, later):
    monkeypatch.setenv("MINUTEHAND_API_TOKENS", f"ada:{TOKEN}")
    job = later.split("/")[2]
    api.patch(later, json={"payload": "the secret", "priority": 1})
    api.post(f"{later}/promote")
    answer = api.get("/audit", params={"job": job, "limit": 1})

    assert [(line["actor"], line["verb"]) for line in answer.json()["audit"]] == [("ada", "promote")]
    following = api.get("/audit", params={"job": job, "before": answer.json()["before"]})
    assert [line["facts"] for line in following.json()["audit"]] == [
        {"fields": ["payload", "priority"], "was_priority": 5}
    ]
    assert "secret" not in following.text
    assert api.get("/audit", params={"actor": "bob"}).json() == {"audit": [], "before": None}


def test_token_with_a_tenant_cannot_pause(api, monkeypatch, problem):
    monkeypatch.setenv("MINUTEHAND_API_TOKENS", f"ada@acme:{TOKEN}")
    for path in ("pause", "resume", "limit", "unlimit"):
        problem(
            api.post(
                f"/controls/{path}", json={"queue": "mail", **({"limit": 1} if path == "limit" else {})}
            ),
            403,
        )
    problem(api.get("/controls"), 403)
    problem(api.post("/queues/mail/delete", json={"confirm": "x"}), 403)


def test_job_that_finishes_first_is_not_cancelled(api, running):
    api.post(f"/jobs/{running.id}/cancel", json={"running": True})
    finish(running, result=1)

    assert api.get(f"/jobs/{running.id}").json()["state"] == "done"
