"""Schedules over HTTP."""

from datetime import UTC, datetime, timedelta

import pytest

from minutehand.schedules.fire import fire_due

WEEKLY = {"every": "0 8 * * mon", "zone": "Europe/Berlin", "job": {"kind": "report", "payload": {"n": 1}}}


@pytest.fixture
def report(api, jobs) -> str:
    """The path of a schedule."""
    assert api.put("/schedules/report", json=WEEKLY).status_code == 200
    return "/schedules/report"


def test_schedule_is_put_read_and_listed(api, jobs, report):
    body = api.get(report).json()

    assert (body["name"], body["every"], body["zone"]) == ("report", "0 8 * * mon", "Europe/Berlin")
    assert body["job"] == {"kind": "report"}
    assert api.get(report, params={"include": "payload"}).json()["job"]["payload"] == {"n": 1}
    assert api.get("/schedules").json() == {"schedules": [body], "after": None}


def test_include_requires_a_name(api, problem):
    body = problem(api.get("/schedules?include=payload"), 422)

    assert body["detail"] == "include must not be used without name"


def test_every_option_of_a_schedule_is_stored(api, jobs):
    options = {
        "every": "PT15M",
        "zone": "Asia/Tokyo",
        "starts": "2030-01-01T00:00:00Z",
        "ends": "2031-01-01T00:00:00Z",
        "jitter": 30,
        "ahead": "PT1H",
        "catch_up": "all",
        "max_catch_up": 7,
        "job": {
            "kind": "report",
            "queue": "slow",
            "key": ["a", 1],
            "retry": {"strategy": "fixed"},
            "timeout": 9,
        },
    }
    body = api.put("/schedules/all", json=options).json()

    same = {name: body[name] for name in ("every", "zone", "jitter", "catch_up", "max_catch_up")}
    assert same == {name: options[name] for name in same}
    assert (body["ahead"], body["starts"], body["next"]) == (
        3600,
        "2030-01-01T00:00:00+00:00",
        "2030-01-01T00:00:00+00:00",
    )
    assert (body["job"]["key"], body["job"]["timeout"], body["job"]["retry"]["strategy"]) == (
        "a/1",
        9,
        "fixed",
    )


def test_schedule_is_paused_resumed_run_and_deleted(api, jobs, report):
    assert api.post(f"{report}/pause").json()["paused"] is True
    assert api.post(f"{report}/resume").json()["paused"] is False
    ran = api.post(f"{report}/run")
    assert ran.status_code == 201
    assert api.get(ran.headers["location"]).json()["kind"] == "report"
    (line,) = api.get(f"{report}/firings").json()["firings"]
    assert (line["outcome"], line["job"]) == ("requested", ran.json()["id"])
    assert api.delete(report).json()["name"] == "report"
    assert api.get(report).status_code == 404


def test_firings_are_listed_in_pages(api, jobs):
    api.put("/schedules/often", json=WEEKLY | {"every": "PT1M"})
    fire_due(jobs, datetime.now(UTC) + timedelta(minutes=3))

    first, second, *_ = api.get("/schedules/often/firings").json()["firings"]
    assert first["nominal"] > second["nominal"]
    page = api.get("/schedules/often/firings", params={"before": first["nominal"], "limit": 1}).json()[
        "firings"
    ]
    assert page == [second]


def test_preview_has_utc_and_local_times(api, jobs):
    asked = {"every": "30 2 * * *", "zone": "America/Los_Angeles", "n": 3, "starts": "2030-03-09T00:00:00Z"}
    moments = api.post("/schedules/preview", json=asked).json()["occurrences"]

    assert [each["local"] for each in moments] == [
        "2030-03-09T02:30:00-08:00",
        "2030-03-10T03:00:00-07:00",
        "2030-03-11T02:30:00-07:00",
    ]
    assert moments[1]["utc"] == "2030-03-10T10:00:00+00:00"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("get", ""),
        ("delete", ""),
        ("post", "/pause"),
        ("post", "/resume"),
        ("post", "/run"),
        ("get", "/firings"),
    ],
)
def test_unknown_schedule_is_a_404(api, jobs, problem, method, path):
    problem(getattr(api, method)(f"/schedules/nothing{path}"), 404)


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ({"every": "never"}, "every_recurs"),
        ({"every": "@reboot"}, "every_recurs"),
        ({"zone": "Mars/Olympus"}, "zone_is_known"),
        ({"jitter": 100_000}, "jitter_is_up_to_a_day"),
        ({"ahead": 60, "overlap": "skip"}, "ahead_allows_overlap"),
        ({"max_catch_up": 5000}, "max_catch_up_is_1_to_1000"),
        ({"job": {"kind": "no kind"}}, "kind_is_a_name"),
        ({"job": {"kind": "report", "delay": 5}}, "schedule_has_a_job"),
        ({"catch_up": "some"}, None),
        ({"starts": "tomorrow"}, None),
        ({"unknown": 1}, None),
    ],
    ids=str,
)
def test_invalid_schedule_is_a_422(api, jobs, problem, options, rule):
    body = problem(api.put("/schedules/report", json=WEEKLY | options), 422)

    assert rule is None or body["rule"] == rule
    assert api.get("/schedules").json()["schedules"] == []


def test_name_may_contain_a_slash(api, jobs):
    path = "/schedules/mail%2Fweekly"

    assert api.put(path, json=WEEKLY).json()["name"] == "mail/weekly"
    assert api.post(f"{path}/pause").json()["paused"]
    job = api.post(f"{path}/run").json()["id"]
    assert api.get(f"/jobs/{job}").json()["schedule"] == "mail/weekly"
    assert [each["job"] for each in api.get(f"{path}/firings").json()["firings"]] == [job]
    assert api.delete(path).json()["name"] == "mail/weekly"
    assert api.get(path).status_code == 404


def test_schedule_is_found_by_a_name_that_is_no_path(api, jobs):
    for name in ("a/b", "a/b/firings"):
        assert api.put(f"/schedules/{name}", json=WEEKLY).status_code == 200
    (found,) = api.get("/schedules", params={"name": "a/b/firings"}).json()["schedules"]
    (whole,) = api.get("/schedules", params={"name": "a/b/firings", "include": "payload"}).json()["schedules"]

    assert (found["name"], found["job"]) == ("a/b/firings", {"kind": "report"})
    assert whole["job"]["payload"] == {"n": 1}
    assert api.get("/schedules", params={"name": "a"}).json() == {"schedules": [], "after": None}
