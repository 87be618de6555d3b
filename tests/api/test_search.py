"""Searches, counts and changes of all jobs that match, and failures by cause, over HTTP."""

from datetime import timedelta

import pytest

from minutehand import enqueue
from minutehand.finish import finish
from minutehand.model.outcome import Failed
from minutehand.operations import matching
from minutehand.operations.audit import list_audit
from minutehand.queries import search
from tests.api.stage import claim_one


def fail(jobs, message, type="TimeoutError", *, final=True, **options):
    """Enqueue a job that fails, and return its id."""
    job = enqueue("echo", connection=jobs, **options).id
    finish(
        claim_one(jobs, options.get("queue", "default")),
        Failed({"type": type, "message": message}, final=final),
    )
    return str(job)


def found(api, **parameters):
    return [each["id"] for each in api.get("/jobs", params=parameters).json()["jobs"]]


@pytest.mark.parametrize(
    ("parameters", "matches"),
    [
        ({"key_prefix": "order/"}, "ab"),
        ({"key_prefix": "order/2"}, "b"),
        ({"payload": "customer.id=42"}, "a"),
        ({"payload": ["customer.id=42", "n=x"]}, ""),
        ({"payload": "customer.id=ada"}, "b"),
        ({"payload": "customer=null"}, "c"),
        ({"payload": "customer.id=ada", "queue": "none"}, ""),
        ({"payload": 'customer.i"d=1'}, ""),
    ],
)
def test_search_finds_jobs_by_key_prefix_and_payload(api, jobs, parameters, matches):
    ids = {
        "a": enqueue("echo", {"customer": {"id": 42}}, key="order/1", connection=jobs).id,
        "b": enqueue("echo", {"customer": {"id": "ada"}}, key="order/2", connection=jobs).id,
        "c": enqueue("echo", {"customer": None}, connection=jobs).id,
    }

    assert set(found(api, **parameters)) == {str(ids[each]) for each in matches}


def test_search_ignores_payloads_that_jsonb_cannot_hold(api, jobs):
    enqueue("echo", {"n": "\x00"}, connection=jobs)
    enqueue("echo", {"n": "x" * 100_000}, connection=jobs)
    job = enqueue("echo", {"n": "x"}, connection=jobs).id

    assert found(api, payload="n=x") == [str(job)]


def test_search_reads_a_bounded_number_of_jobs_and_continues(api, jobs, monkeypatch):
    monkeypatch.setattr(search, "MOST_READ", 3)
    first = enqueue("echo", key="a/1", connection=jobs).id
    for _ in range(4):
        enqueue("echo", connection=jobs)
    page = api.get("/jobs?key_prefix=a/").json()

    assert (page["jobs"], page["read"], page["stopped"]) == ([], 3, True)
    page = api.get(page["next"]).json()
    assert ([each["id"] for each in page["jobs"]], page["stopped"], page["next"]) == (
        [str(first)],
        False,
        None,
    )


def test_bounded_page_reads_a_bounded_number_of_jobs(api, jobs, monkeypatch):
    monkeypatch.setattr(search, "MOST_READ", 2)
    wanted = enqueue("echo", queue="mail", connection=jobs).id
    for _ in range(2):
        enqueue("echo", connection=jobs)
    page = api.get("/jobs", params={"queue": "mail", "bounded": True}).json()

    assert (page["jobs"], page["stopped"]) == ([], True)
    assert [each["id"] for each in api.get(page["next"]).json()["jobs"]] == [str(wanted)]
    assert found(api, queue="mail") == [str(wanted)]


def test_failures_are_grouped_by_cause_with_a_filter_that_lists_them(api, jobs):
    ids = {fail(jobs, f'no answer from 10.0.0.{n} in {n}.5 s for "order {n}"') for n in range(3)}
    fail(jobs, "unknown key", "KeyError")
    retrying = fail(jobs, "no answer at all", final=False)
    report = api.get("/failures").json()
    groups = {each["cause"]: each for each in report["groups"]}

    group = groups["TimeoutError: no answer from # in # s for #"]
    assert (group["jobs"], group["dead"], sum(group["trend"])) == (3, 3, 3)
    assert (set(found(api, **group["filter"])), report["complete"]) == (ids, True)
    assert groups["TimeoutError: no answer at all"]["dead"] == 0
    assert found(api, **groups["TimeoutError: no answer at all"]["filter"]) == [retrying]


def test_counts_follow_the_filter_by_state(api, jobs):
    fail(jobs, "no", queue="mail")
    fail(jobs, "no", "KeyError", queue="mail")
    enqueue("echo", queue="mail", delay=timedelta(hours=1), connection=jobs)

    assert api.get("/jobs/counts?queue=mail").json()["counts"] == {"dead": 2, "scheduled": 1}
    assert api.get("/jobs/counts?error=KeyError").json()["counts"] == {"dead": 1}
    page = api.get("/jobs?queue=mail&limit=1&count=true").json()
    assert (page["count"], page["count_more"], len(page["jobs"])) == (3, False, 1)


def test_counts_report_that_jobs_were_not_searched(api, jobs, monkeypatch):
    monkeypatch.setattr(search, "MOST_COUNTED", 2)
    for _ in range(3):
        enqueue("echo", connection=jobs)
    unfinished = ["due", "offered", "retrying", "running", "scheduled"]

    counts = api.get("/jobs/counts?queue=other").json()
    assert counts == {"counts": {}, "more": unfinished, "stopped": True}
    assert api.get("/jobs/counts?state=retrying").json()["more"] == ["retrying"]


def change(api, verb, filter, **options):
    return api.post("/jobs/matching", json={"verb": verb, "filter": filter, **options}).json()


def test_change_of_all_matching_jobs_is_counted_first(api, jobs):
    ids = {fail(jobs, f"no answer in {n} s") for n in range(3)}
    fail(jobs, "unknown key", "KeyError")
    filter = {"cause": "TimeoutError: no answer in # s"}
    preview = change(api, "retry", filter)

    assert (preview["count"], preview["more"]) == (3, False)
    assert {each["id"] for each in preview["sample"]} == ids
    assert set(found(api, state="dead", **filter)) == ids

    made = change(api, "retry", filter, dry_run=False)
    assert (made["changed"], made["refused"], made["after"]) == (3, 0, None)
    assert set(found(api, state="due")) == ids
    (entry,) = list_audit(jobs, verb="matching")
    assert entry.facts["filter"]["cause"] == filter["cause"]
    assert entry.facts["outcomes"] == {"changed": 3}


def test_change_of_matching_jobs_continues_after_its_limit(api, jobs):
    for _ in range(3):
        enqueue("echo", queue="mail", connection=jobs)
    first = change(api, "cancel", {"queue": "mail"}, dry_run=False, limit=2)
    rest = change(api, "cancel", {"queue": "mail"}, dry_run=False, limit=2, after=first["after"])

    assert (first["changed"], rest["changed"], rest["after"]) == (2, 1, None)


def test_change_leaves_out_states_that_do_not_allow_it(api, jobs, running, dead):
    assert change(api, "cancel", {}, dry_run=False)["changed"] == 0
    assert change(api, "retry", {"state": ["done"]})["count"] == 0
    assert change(api, "replay", {"state": ["dead"]}, dry_run=False)["changed"] == 1


@pytest.mark.parametrize("filter", [{"priority": 0}, {"queue": ""}, {"key": ""}, {"error": ""}])
def test_change_with_an_empty_filter_changes_no_other_job(api, jobs, filter):
    enqueue("echo", connection=jobs)

    assert found(api, **filter) == []
    assert api.get("/jobs/counts", params=filter).json()["counts"] == {}
    assert change(api, "cancel", filter)["count"] == 0
    assert change(api, "cancel", filter, dry_run=False)["changed"] == 0
    (entry,) = list_audit(jobs, verb="matching")
    assert entry.facts["filter"].items() >= filter.items()


def test_change_finds_more_dead_jobs_than_a_page_reads(api, jobs, monkeypatch):
    monkeypatch.setattr(search, "MOST_READ", 2)
    ids = {fail(jobs, "no") for _ in range(5)}
    preview = change(api, "replay", {"state": ["dead"]})
    made = change(api, "replay", {"state": ["dead"]}, dry_run=False)

    assert (preview["count"], preview["more"]) == (5, False)
    assert (made["changed"], made["after"]) == (len(ids), None)


def test_change_ends_if_its_states_do_not_allow_it(api, jobs):
    job = str(enqueue("echo", connection=jobs).id)

    assert change(api, "retry", {"state": ["due"]}, dry_run=False, after=job)["after"] is None


def test_failed_chunk_leaves_an_audit_entry(api, jobs, connection, monkeypatch):
    monkeypatch.setattr(matching, "CHUNK", 1)
    enqueue("echo", key="refuses", connection=jobs)
    enqueue("echo", connection=jobs)
    connection.execute(
        """create function refuse() returns trigger language plpgsql as $$ begin raise 'no'; end $$;
           create trigger refuse before update on minutehand.jobs_live for each row when (old.key = 'refuses')
           execute function refuse()"""
    )
    try:
        response = api.post("/jobs/matching", json={"verb": "promote", "filter": {}, "dry_run": False})
    finally:
        connection.execute("drop function refuse cascade")

    assert response.status_code == 500
    (entry,) = list_audit(jobs, verb="matching")
    assert entry.facts["outcomes"] == {"changed": 1}
    assert entry.facts["failed"] == "DatabaseError"


def test_retry_of_matching_jobs_has_a_rate(api, jobs):
    for _ in range(3):
        fail(jobs, "no")
    change(api, "retry", {}, dry_run=False, per_minute=1)

    assert api.get("/jobs/counts").json()["counts"] == {"due": 1, "scheduled": 2}


def test_audit_does_not_have_the_payload_that_was_searched(api, jobs):
    enqueue("echo", {"name": "secret"}, connection=jobs)
    change(api, "cancel", {"payload": ["name=secret"]}, dry_run=False)

    assert "secret" not in api.get("/audit").text
