"""A token with +read may read everything of its tenant, and change nothing."""

from datetime import timedelta

import pytest

from minutehand import enqueue
from minutehand.functions.api.auth import authenticate
from minutehand.functions.api.errors import ApiError
from minutehand.queries.jobs import get
from tests.api.tenants import CALLS, Tenant

READER = "a-token-that-only-reads"
CHANGES = sorted(route for route in CALLS if not route.startswith("GET "))


@pytest.fixture
def reader(monkeypatch, token):
    monkeypatch.setenv("MINUTEHAND_API_TOKENS", f"{token},eve+read:{READER}")
    return {"Authorization": f"Bearer {READER}"}


@pytest.mark.parametrize("route", CHANGES)
def test_reader_may_not_change_anything(api, problem, reader, route):
    tenant = Tenant("", "mark")
    refusal = problem(CALLS[route].send(api, route.split()[0], tenant, READER), 403)

    assert refusal["type"] == "urn:minutehand:problem:read-only"
    assert "+read" in refusal["detail"]


def test_reader_reads_and_previews(api, jobs, reader):
    job = enqueue("echo", {"n": 1}, connection=jobs).id

    assert api.get("/me", headers=reader).json()["role"] == "reader"
    assert api.get("/me").json()["role"] == "operator"
    assert api.get(f"/jobs/{job}?include=payload", headers=reader).json()["payload"] == {"n": 1}
    preview = api.post("/schedules/preview", json={"every": "@daily"}, headers=reader)
    assert preview.status_code == 200


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
def test_reader_may_not_change_a_schedule_named_preview(api, problem, reader, method):
    """A reader may only POST to this path; the other methods change the schedule with the name."""
    schedule = {"every": "@daily", "job": {"kind": "echo"}}
    assert api.put("/schedules/preview", json=schedule).status_code == 200
    refusal = problem(api.request(method, "/schedules/preview", json=schedule, headers=reader), 403)

    assert refusal["type"] == "urn:minutehand:problem:read-only"
    assert api.get("/schedules/preview").status_code == 200


def test_refused_change_leaves_the_job(api, jobs, reader):
    job = enqueue("echo", delay=timedelta(hours=1), connection=jobs).id
    api.post(f"/jobs/{job}/cancel", headers=reader)

    assert get(jobs, job).state == "scheduled"


@pytest.mark.parametrize("entry", ["eve+write:{}", "eve+:{}", "+read:{}", "eve+read@acme:{}"])
def test_invalid_role_of_a_token_is_rejected(monkeypatch, log, entry):
    monkeypatch.setenv("MINUTEHAND_API_TOKENS", entry.format(READER))
    headers = [(b"authorization", f"Bearer {READER}".encode())]
    with pytest.raises(ApiError) as refused:
        authenticate({"type": "http", "path": "/jobs", "method": "GET", "headers": headers})

    assert refused.value.status_code == 401
