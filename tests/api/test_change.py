"""Change over HTTP: cancel, promote, reschedule and retry. Running jobs are not changed."""

from datetime import datetime
from uuid import uuid4

import pytest

from minutehand import enqueue
from minutehand.queries import jobs as read

FAR = "2999-01-31T08:00:00+01:00"


@pytest.fixture
def later(api, jobs) -> str:
    """The path of a scheduled job."""
    return api.post("/jobs", json={"kind": "echo", "run_at": FAR}).headers["location"]


def test_job_is_cancelled_with_a_reason(api, later):
    answer = api.post(f"{later}/cancel", json={"reason": "the order was withdrawn"})

    assert (answer.status_code, answer.json()["state"]) == (200, "cancelled")
    assert answer.json()["error"]["message"] == "the order was withdrawn"


def test_job_is_cancelled_without_a_reason(api, later):
    assert api.post(f"{later}/cancel").json()["error"]["message"] == "on request"


@pytest.mark.parametrize(
    "why", [{"reason": "a\0b"}, {"reason": "x" * 1001}, {"reason": 1}, {"because": "x"}, []]
)
def test_invalid_reason_is_rejected(api, later, problem, why):
    problem(api.post(f"{later}/cancel", json=why), 422)


def test_job_is_promoted(api, later):
    assert api.post(f"{later}/promote").json()["state"] == "due"


def test_job_is_rescheduled_to_a_time_or_by_a_delay(api, jobs, later):
    moved = api.post(f"{later}/reschedule", json={"run_at": "2998-01-31T08:00:00Z"}).json()
    assert datetime.fromisoformat(moved["visible"]) == datetime.fromisoformat("2998-01-31T08:00:00Z")

    clock = jobs.connection.execute("select clock_timestamp()").fetchone()[0]
    moved = api.post(f"{later}/reschedule", json={"delay": "PT1H"}).json()
    assert 3600 <= (datetime.fromisoformat(moved["run_at"]) - clock).total_seconds() < 3660
    assert moved["state"] == "scheduled"
    assert api.post(f"{later}/reschedule", json={"run_at": "1999-01-31T08:00:00Z"}).json()["state"] == "due"


@pytest.mark.parametrize(
    ("to", "rule"),
    [
        ({}, "run_at_or_delay"),
        ({"run_at": FAR, "delay": 1}, "run_at_or_delay"),
        ({"delay": -1}, "delay_is_not_negative"),
        ({"run_at": "9999-12-31T23:59:59-12:00"}, "time_is_finite"),
        ({"delay": "P999999999D"}, "number_is_in_range"),
        ({"run_at": "2026-01-31T08:00:00"}, None),
        ({"at": FAR}, None),
    ],
)
def test_invalid_reschedule_is_rejected(api, later, problem, to, rule):
    before = api.get(later).json()

    assert problem(api.post(f"{later}/reschedule", json=to), 422).get("rule") == rule
    assert api.get(later).json() == before


def test_dead_job_is_retried(api, dead):
    answer = api.post(f"/jobs/{dead.id}/retry").json()

    assert (answer["state"], answer["attempts"], answer["deleted"]) == ("due", 0, None)


def test_dead_job_whose_key_is_taken_stays_dead(api, jobs, dead, problem):
    enqueue("echo", key="dead", connection=jobs)

    assert "key" in problem(api.post(f"/jobs/{dead.id}/retry"), 409)["detail"]


@pytest.mark.parametrize(
    ("action", "body"), [("cancel", None), ("promote", None), ("reschedule", {"delay": 1})]
)
def test_running_job_is_not_changed(api, jobs, running, problem, action, body):
    details = problem(api.post(f"/jobs/{running.id}/{action}", json=body), 409)

    assert (details["state"], details["detail"]) == ("running", "the job is running")
    assert read.get(jobs, running.id).state == "running"


@pytest.mark.parametrize("action", ["cancel", "promote", "reschedule"])
def test_finished_job_is_not_changed(api, dead, problem, action):
    body = {"delay": 1} if action == "reschedule" else None

    details = problem(api.post(f"/jobs/{dead.id}/{action}", json=body), 409)

    assert (details["state"], details["detail"]) == ("dead", "the job is already dead")


def test_upcoming_job_is_not_retried(api, later, problem):
    assert problem(api.post(f"{later}/retry"), 409)["state"] == "scheduled"


@pytest.mark.parametrize("action", ["cancel", "promote", "reschedule", "retry"])
def test_change_of_an_unknown_job_is_a_404(api, problem, action):
    body = {"delay": 1} if action == "reschedule" else None

    problem(api.post(f"/jobs/{uuid4()}/{action}", json=body), 404)
