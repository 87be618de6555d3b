"""Moments at the ends of the calendar are answered with a sentence, never with an internal error."""

from itertools import product

import pytest

ENDS = [
    "0001-01-01T00:00:00+23:59",
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59-23:59",
    "9999-12-31T00:00:00Z",
]
WINDOWS = ["/histogram", "/durations", "/failures"]
LAST = "9999-12-30T23:59:59Z"
REPORT = {"every": "@daily", "zone": "Pacific/Kiritimati", "job": {"kind": "report"}}


@pytest.mark.parametrize("moment", ENDS)
@pytest.mark.parametrize(("path", "name"), [("", "since"), *product(WINDOWS, ["since", "until"])])
def test_window_at_the_end_of_the_calendar_is_invalid(api, problem, path, name, moment):
    answer = problem(api.get(f"/stats{path}", params={name: moment}), 422)

    assert answer["rule"] == "time_is_finite"
    assert answer["detail"] == f"{name} must be a time in the years 1 to 9999"


@pytest.mark.parametrize("moment", ENDS)
@pytest.mark.parametrize("name", ["starts", "ends"])
def test_schedule_at_the_end_of_the_calendar_is_invalid(api, problem, name, moment):
    recurrence = {"every": "P1D", "zone": "Pacific/Kiritimati", name: moment}

    assert problem(api.post("/schedules/preview", json=recurrence), 422)["rule"] == "time_is_finite"
    put = api.put("/schedules/report", json=REPORT | {name: moment})
    assert problem(put, 422)["rule"] == "time_is_finite"


def test_first_and_last_moments_are_valid(api):
    for path in ("/stats/failures", "/stats/durations"):
        assert api.get(path, params={"until": "0001-01-02T00:00:00Z"}).status_code == 200
    for moment in ("0001-01-02T00:00:00Z", LAST):
        put = api.put("/schedules/report", json=REPORT | {"starts": moment})
        assert (put.status_code, api.get("/schedules").status_code) == (200, 200)
        previewed = api.post(
            "/schedules/preview", json={"every": "PT1H", "zone": "Asia/Tokyo", "starts": moment}
        )
        assert previewed.status_code == 200


def test_retention_of_a_billion_days_is_invalid(api, problem):
    assert problem(api.put("/retention", json={"done": "P999999999D"}), 422)["rule"] == "keep_is_bounded"
