"""Enqueue over HTTP: stored fields, rejected fields and responses."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from minutehand import NewJob, Retry
from minutehand.queries import jobs as read
from tests.api.stage import claim_one

FAR = "2999-01-31T08:00:00+01:00"


def test_location_of_a_created_job_is_its_path(api, jobs):
    answer = api.post("/jobs", json={"kind": "echo", "payload": {"a": 1}})

    body = answer.json()
    assert (answer.status_code, body["outcome"]) == (201, "created")
    assert datetime.fromisoformat(body["visible"]) <= datetime.now(UTC)
    assert answer.headers["location"] == f"/jobs/{body['id']}"
    assert api.get(answer.headers["location"]).json()["id"] == body["id"]


def test_enqueue_stores_every_field(api, jobs):
    options = {
        "kind": "orders.ship",
        "payload": [1, None],
        "queue": "slow",
        "key": "k/1",
        "run_at": FAR,
        "priority": 9,
        "max_attempts": 1,
        "timeout": "PT1M30S",
        "headers": {"trace": "x"},
        "retry": {"strategy": "linear", "min": 1.5, "max": "PT2M", "factor": 2, "jitter": False},
    }
    response = api.post("/jobs", json=options)

    row = read.get(jobs, response.json()["id"])
    assert (row.kind, row.payload, row.queue, row.key, row.priority, row.max_attempts) == (
        "orders.ship",
        [1, None],
        "slow",
        "k/1",
        9,
        1,
    )
    assert (row.run_at, row.timeout, row.headers) == (
        datetime.fromisoformat(FAR),
        timedelta(seconds=90),
        {"trace": "x", "correlation-id": response.headers["x-correlation-id"]},
    )
    assert Retry.from_json(row.retry) == Retry(
        strategy="linear", min=timedelta(seconds=1.5), max=timedelta(minutes=2), factor=2, jitter=False
    )


def test_key_and_recurrence_options_are_stored(api, jobs):
    def enqueue(**options: Any) -> Any:
        return api.post("/jobs", json={"kind": "echo", **options}).json()

    assert read.get(jobs, enqueue(key=["order", "a/b", 17], run_at=FAR)["id"]).key == "order/a%2Fb/17"
    assert read.get(jobs, enqueue(key=17)["id"]).key == "17"
    report = read.get(jobs, enqueue(every="0 8 * * mon", zone="Asia/Tokyo")["id"])
    assert (report.run_at.weekday(), report.run_at.hour) == (6, 23)
    for options in ({"unique_for": "PT1H"}, {"unique_while": "running"}, {"throttle": 3600}):
        first = enqueue(key=str(options), queue="own", **options)
        claim_one(jobs, "own")
        again = enqueue(key=str(options), queue="own", **options)
        assert again["outcome"] == ("created" if "throttle" in options else "ignored")
        assert (again["id"] == first["id"]) == ("throttle" not in options)
    waits = enqueue(key="d", debounce="PT1H", debounce_max=1800 * 2)
    assert datetime.fromisoformat(waits["visible"]) > datetime.now(UTC) + timedelta(minutes=59)


def test_null_fields_are_treated_as_omitted(api, jobs):
    fields = set(NewJob.__dataclass_fields__) - {"kind", "payload", "on_conflict"}
    row = read.get(jobs, api.post("/jobs", json={"kind": "echo", **dict.fromkeys(fields)}).json()["id"])

    assert (row.queue, row.priority, row.max_attempts, row.retry) == ("default", 5, 8, None)


@pytest.mark.parametrize(
    ("options", "seconds"),
    [
        (90, 90),
        (0.5, 0.5),
        ("PT1H30M", 5400),
        ("P2W", 1209600),
        ("P1DT12H", 129600),
        ("PT0.5S", 0.5),
        ("+PT5S", 5),
    ],
)
def test_delay_is_seconds_or_iso_8601(api, jobs, options, seconds):
    row = read.get(jobs, api.post("/jobs", json={"kind": "echo", "delay": options}).json()["id"])

    assert abs((row.run_at - row.enqueued).total_seconds() - seconds) < 0.25


def test_on_conflict_replaces_ignores_or_raises(api, jobs, problem):
    def enqueue(**more: Any) -> Any:
        return api.post("/jobs", json={"kind": "echo", "key": "k", "run_at": FAR, **more})

    first = enqueue()
    assert first.status_code == 201
    for on_conflict, payload, outcome in [
        ("replace", [1], "replaced"),
        ("ignore", [2], "ignored"),
        ("merge", [2], "merged"),
        ("replace", [1, 2], "ignored"),
    ]:
        answer = enqueue(on_conflict=on_conflict, payload=payload)
        assert (answer.status_code, answer.json()["outcome"]) == (200, outcome)
        assert answer.headers["location"] == first.headers["location"]
    assert problem(enqueue(on_conflict="raise"), 409)["type"] == "urn:minutehand:problem:key-taken"


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ({"kind": "../../etc/passwd"}, "kind_is_a_name"),
        ({"key": "a\0b"}, "text_is_text"),
        ({"priority": 10**30}, "priority_is_0_to_9"),
        ({"delay": -1}, "delay_is_not_negative"),
        ({"delay": "P3000000D"}, None),
        ({"run_at": "9999-12-31T23:59:59-12:00"}, "time_is_finite"),
        ({"timeout": "P2D"}, "timeout_is_positive"),
        ({"retry": {"min": 60, "max": 1}}, "retry_is_a_strategy"),
        ({"key": ["a", ""]}, "key_fits"),
        ({"every": "@daily", "zone": "Mars/Base"}, "zone_is_known"),
        ({"key": "k", "debounce": 60, "throttle": 60}, "one_period"),
        ({"payload": "x" * 262_144}, "payload_fits"),
    ],
)
def test_problem_names_the_broken_rule(api, jobs, problem, options, rule):
    body = problem(api.post("/jobs", json={"kind": "echo", **options}), 422)

    assert body["type"] == "urn:minutehand:problem:invalid"
    assert body["rule"] == rule or (rule is None and body["rule"])
    assert not read.stats(jobs)


@pytest.mark.parametrize(
    ("options", "pointer"),
    [
        ({"kind": 1}, "#/kind"),
        ({"unknown": 1}, "#/unknown"),
        ({"a/b~c": 1}, "#/a~1b~0c"),
        ({"run_at": "2026-01-31T08:00:00"}, "#/run_at"),
        ({"run_at": "2026-01-31T24:00:01Z"}, "#/run_at"),
        ({"run_at": "infinity"}, "#/run_at"),
        ({"run_at": 1769846400}, "#/run_at"),
        ({"delay": True}, "#/delay"),
        ({"delay": "3 days"}, "#/delay"),
        ({"delay": "P"}, "#/delay"),
        ({"delay": 1e300}, "#/delay"),
        ({"delay": 10**400}, "#/delay"),
        ({"priority": "5"}, "#/priority"),
        ({"priority": True}, "#/priority"),
        ({"headers": {"h": 1}}, "#/headers/h"),
        ({"retry": {"factor": 10**400}}, "#/retry/factor"),
        ({"retry": {"times": 3}}, "#/retry/times"),
        ({"on_conflict": "overwrite"}, "#/on_conflict"),
        ({"unique_while": "done"}, "#/unique_while"),
        ({"unique_for": "1 hour"}, "#/unique_for"),
        ({"personal": 1}, "#/personal"),
    ],
)
def test_malformed_field_is_rejected_with_its_pointer(api, jobs, problem, options, pointer):
    body = problem(api.post("/jobs", json={"kind": "echo", **options}), 422)

    assert body["type"] == "urn:minutehand:problem:malformed"
    assert [fault["pointer"] for fault in body["errors"]] == [pointer]
    assert not read.stats(jobs)


@pytest.mark.parametrize("options", [b"null", b"[]", b'"echo"', b"1", b"[[[]]]"])
def test_body_that_is_not_an_object_is_rejected(api, problem, options):
    problem(api.post("/jobs", content=options, headers={"Content-Type": "application/json"}), 422)


def test_past_run_at_means_now(api, jobs):
    before = jobs.connection.execute("select clock_timestamp()").fetchone()[0]
    for moment in ("1999-01-31t08:00:00z", "0001-01-01T00:00:00+14:00"):
        assert (
            read.get(jobs, api.post("/jobs", json={"kind": "echo", "run_at": moment}).json()["id"]).run_at
            >= before
        )
