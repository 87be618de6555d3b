"""History over HTTP: pages, attempts, keys, queues, statistics and retention."""

from datetime import UTC, datetime, timedelta

import pytest

from minutehand import enqueue
from minutehand.queries.jobs import clock
from tests.api.stage import claim_one, finish

ATTEMPT = """
insert into minutehand.attempts (job, attempt, started, ended, queue, kind, outcome, worker, error)
values (%s, 1, now() - interval '9 seconds', now(), 'default', 'echo', 'retrying', 'worker-function',
        '{"type": "ValueError", "message": "no", "trace": "a secret"}')
"""


def ids(answer):
    return [job["id"] for job in answer.json()["jobs"]]


@pytest.fixture
def created(jobs):
    return [str(enqueue("echo", connection=jobs).id) for _ in range(7)][::-1]


def test_links_point_to_the_next_and_previous_page(api, created):
    seen, answer = [], api.get("/jobs?limit=3&kind=echo")
    while True:
        seen.append(ids(answer))
        if "next" not in answer.links:
            break
        answer = api.get(answer.links["next"]["url"])
    back = []
    while "prev" in answer.links:
        assert answer.json()["previous"] == answer.links["prev"]["url"]
        answer = api.get(answer.links["prev"]["url"])
        back.append(ids(answer))

    assert seen == [created[:3], created[3:6], created[6:]]
    assert back == [created[3:6], created[:3]]
    assert ids(api.get("/jobs?limit=2&page=last")) == created[5:]


def test_total_and_position_are_returned_on_request(api, created):
    first = api.get("/jobs?limit=3&total=true").json()
    second = api.get(first["next"]).json()

    assert [(page["total"], page["place"]) for page in (first, second)] == [(7, 0), (7, 3)]
    assert api.get("/jobs").json()["total"] is None


def test_listing_is_filtered_by_time_and_version(api, jobs, dead, created):
    hour, now = timedelta(hours=1), clock(jobs)

    def found(**filters):
        return len(ids(api.get("/jobs", params={name: f"{value}" for name, value in filters.items()})))

    assert found(finished_since=(now - hour).isoformat()) == 1
    assert (
        found(finished_since=(now + hour).isoformat()) == found(finished_until=(now - hour).isoformat()) == 0
    )
    assert found(since=(now - hour).isoformat()) == 8
    assert found(until=(now - hour).isoformat()) == 0
    assert found(version="none") == 0


def test_next_links_keep_the_time_filters(api, jobs, created):
    page = api.get("/jobs", params={"limit": 4, "since": (clock(jobs) - timedelta(hours=1)).isoformat()})

    assert ids(api.get(page.json()["next"])) == created[4:]


def test_attempts_of_a_job_are_listed(api, jobs, dead, problem):
    jobs.connection.execute(ATTEMPT, [dead.id])
    answer = api.get(f"/jobs/{dead.id}/attempts").json()
    body = answer["attempts"]
    assert answer["unclaimed"] == {"count": 0, "latest": []}

    assert [(each["attempt"], each["outcome"], each["worker"]) for each in body][-1] == (
        1,
        "retrying",
        "worker-function",
    )
    assert body[-1]["error"] == {"type": "ValueError", "message": "no"}
    assert "a secret" in api.get(f"/jobs/{dead.id}/attempts?include=payload").text
    problem(api.get("/jobs/01980000-0000-7000-8000-000000000000/attempts"), 404)


def test_job_is_found_by_its_key(api, jobs, problem):
    job = str(enqueue("echo", {"secret": 1}, key="welcome/ä b", queue="mail", connection=jobs).id)
    found = api.get("/queues/mail/keys/welcome/ä b")

    assert found.json()["id"] == job
    assert "secret" not in found.text
    assert api.get("/queues/mail/keys/welcome/ä b?include=payload").json()["payload"] == {"secret": 1}
    problem(api.get("/queues/default/keys/welcome/ä b"), 404)
    problem(api.get("/queues/mail/keys/welcome/ä b?tenant=ada"), 404)


def test_queues_are_listed(api, jobs):
    enqueue("echo", queue="mail", connection=jobs)

    assert api.get("/queues").json() == {"queues": ["mail"], "after": None}


def test_stats_count_since_a_time_and_by_kind(api, jobs, dead):
    enqueue("other", connection=jobs)
    later = (clock(jobs) + timedelta(hours=1)).isoformat()

    def counted(**parameters):
        return {(d["kind"], d["state"]) for d in api.get("/stats", params=parameters).json()["depths"]}

    assert counted() == {(None, "due"), (None, "dead")}
    assert counted(by="kind") == {("other", "due"), ("echo", "dead")}
    assert counted(since=later) == {(None, "due")}
    assert counted(kind="echo") == {(None, "dead")}
    assert counted(queue="mail") == set()


def test_histogram_includes_empty_bins(api, jobs, dead):
    bins = api.get("/stats/histogram").json()["bins"]

    assert len(bins) == 25 and sum(each["dead"] for each in bins) == 1
    assert len(api.get("/stats/histogram?by=day&zone=Asia/Kolkata").json()["bins"]) == 8
    assert {each["name"] for each in api.get("/stats/histogram?each=kind").json()["bins"]} == {"echo"}
    assert sum(each["dead"] for each in api.get("/stats/histogram?queue=mail").json()["bins"]) == 0
    assert api.get("/stats/histogram?zone=Mars").json()["rule"] == "zone_is_known"


def test_durations_failures_and_today_are_returned(api, jobs, dead):
    jobs.connection.execute(ATTEMPT, [dead.id])
    (spread,) = api.get("/stats/durations?by=kind").json()["durations"]

    assert (spread["kind"], spread["run"]["max"]) == ("echo", pytest.approx(9, abs=0.1))
    assert {each["error"] for each in api.get("/stats/failures").json()["failures"]} == {"ValueError"}
    assert api.get("/stats/today").json()["failed"] == 1
    assert api.get("/stats/today?zone=Mars").status_code == 422


def test_retention_is_replaced_as_a_whole(api, problem):
    assert api.get("/retention").json() == {"retention": [], "keep_until_archived": False}
    api.put("/retention", json={"done": "P1D", "dead": 60})
    api.put("/retention", json={"queue": "mail", "done": "forever", "keep_until_archived": True})
    body = api.put("/retention", json={"done": "P1D"}).json()

    assert [(each["queue"], each["done"], each["dead"]) for each in body["retention"]] == [
        (None, 86400.0, None),
        ("mail", "forever", None),
    ]
    assert body["keep_until_archived"] is True
    assert problem(api.put("/retention", json={"done": -1}), 422)["rule"] == "keep_is_bounded"
    assert (
        problem(api.put("/retention", json={"queue": "no queue", "done": 1}), 422)["rule"]
        == "queue_is_a_name"
    )
    problem(api.put("/retention", json={"done": "a while"}), 422)
    problem(api.put("/retention", json={"unknown": 1}), 422)


def test_wait_returns_a_finished_job(api, jobs):
    enqueue("echo", connection=jobs)
    job = claim_one(jobs)
    finish(job, result=1)

    assert api.get(f"/jobs/{job.id}?wait=5").json()["state"] == "done"


def test_why_explains_a_job_and_a_queue(api, jobs):
    job = str(enqueue("echo", queue="mail", run_at=datetime(2030, 1, 31, 7, tzinfo=UTC), connection=jobs).id)

    explained = api.get(f"/jobs/{job}/why?zone=Europe/Berlin").json()

    assert (explained["reason"], explained["state"], explained["job"]) == ("scheduled", "scheduled", job)
    assert "2030-01-31 08:00:00 CET" in explained["sentence"]
    assert api.get("/queues/mail/why").json()["job"] == job
    assert api.get("/queues/other/why").status_code == 404
    assert api.get(f"/jobs/{job}/why?zone=Mars/Base").status_code == 422
