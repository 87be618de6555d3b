"""Every route shows whatever the tables contain."""

import pytest
from starlette.testclient import TestClient

from tests.poison import job_ids, poison
from tests.servers import Database

WINDOW = "since=2000-01-01T00:00:00Z&until=2100-01-01T00:00:00Z"
PAGES = (
    "/jobs?limit=1000&total=true",
    "/jobs?limit=1000&page=last",
    "/jobs?limit=1000&state=dead&state=done",
    "/queues",
    "/queues/poison/keys/k1?include=payload",
    "/controls",
    "/audit?limit=1000",
    "/retention",
    "/stats?since=2000-01-01T00:00:00Z",
    "/stats?since=2000-01-01T00:00:00Z&by=kind",
    f"/stats/histogram?by=day&{WINDOW}".replace("2000", "2095"),
    f"/stats/durations?{WINDOW}&by=kind",
    f"/stats/failures?{WINDOW}",
    "/stats/today",
    "/schedules?limit=1000",
    "/schedules/s1?include=payload",
    "/schedules/s1/firings?limit=1000",
)


@pytest.fixture
def poisoned(api: TestClient, database: Database) -> TestClient:
    columns = poison(database.admin_url)
    assert {
        "jobs.error",
        "jobs.claimed",
        "jobs.payload",
        "schedules.job",
        "events.facts",
        "audit.facts",
    } <= columns
    return api


def test_every_page_shows_odd_rows(poisoned: TestClient) -> None:
    answers = {path: poisoned.get(path) for path in PAGES}

    assert {path: answer.text for path, answer in answers.items() if answer.status_code != 200} == {}
    assert len(answers["/jobs?limit=1000&total=true"].json()["jobs"]) > 100
    assert len(answers["/schedules?limit=1000"].json()["schedules"]) > 50
    assert "private" not in str(
        [each["job"] for each in answers["/schedules?limit=1000"].json()["schedules"]]
    )


def test_every_job_with_an_odd_value_is_shown(poisoned: TestClient, database: Database) -> None:
    ids = job_ids(database.admin_url)
    answers = [poisoned.get(f"/jobs/{id}{query}") for query in ("", "?include=payload") for id in ids]

    assert [answer.text for answer in answers if answer.status_code != 200] == []
    # Some of the payloads are nested too deeply for this reader.
    for job in (answer.json() for answer in answers[: len(ids)]):
        assert job["error"] is None or {"type", "message"} <= set(job["error"])
        assert all(isinstance(text, str) for text in (job["error"] or {}).values())


def test_every_attempt_and_schedule_is_shown(poisoned: TestClient) -> None:
    names = [each["name"] for each in poisoned.get("/schedules").json()["schedules"]]
    paths = [f"/schedules/{name}?include=payload" for name in names if name.isalnum()]
    paths += ["/jobs/01a1fe30-d3a6-7c72-8ab3-9322193cd77e/attempts?include=payload"]
    answers = [poisoned.get(path) for path in paths]

    assert [answer.text for answer in answers if answer.status_code != 200] == []
    assert answers[-1].text.count('"attempt":') > 50
