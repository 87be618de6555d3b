"""The costs of a month over HTTP."""

from datetime import timedelta

import psycopg
import pytest

from minutehand import Database
from minutehand.functions.api.routers import cost

ATTEMPT = """
insert into minutehand.attempts (job, attempt, started, ended, queue, kind, outcome, worker, request, memory_mb)
values (minutehand.uuid7(), 1, '2020-02-01T00:00Z', '2020-02-01T00:00:02Z', 'default', 'mail', 'done', 'w', 'r', 1024)
"""


def test_cost_of_a_month_is_reported(api, jobs):
    with jobs.transaction() as connection:
        connection.execute(ATTEMPT)
    found = api.get("/cost", params={"month": "2020-02"}).json()

    assert (found["month"], found["mode"], found["architecture"]) == ("2020-02", "minute", "arm64")
    (mail,) = found["kinds"]
    assert (mail["kind"], mail["attempts"], mail["invocations"]) == ("mail", 1, 1)
    assert mail["dollars"] == pytest.approx(2 * 1.33334e-5, rel=0.05)
    assert found["total"] == pytest.approx(found["work"] + found["dispatcher"]["dollars"])
    other = api.get("/cost", params={"month": "2020-02", "mode": "sleep", "architecture": "x86_64"}).json()
    assert other["dispatcher"]["dollars"] < found["dispatcher"]["dollars"]
    assert other["work"] > found["work"]


def test_cost_of_this_month_without_work_is_that_of_the_dispatcher(api):
    found = api.get("/cost").json()

    assert (found["kinds"], found["work"], found["per_million"]) == ([], 0, None)
    assert found["total"] == found["dispatcher"]["dollars"]


@pytest.mark.parametrize(
    ("month", "detail"),
    [
        ("2020-13", "the month must be a year and a month, such as 2026-11, got '2020-13'"),
        ("9998-01", "the month must not be in the future, got 9998-01"),
    ],
)
def test_month_without_a_report_is_invalid(api, problem, month, detail):
    assert problem(api.get("/cost", params={"month": month}), 422)["detail"] == detail


def test_cost_that_takes_too_long_names_the_command(api, problem, direct_database, monkeypatch):
    monkeypatch.setattr(cost, "LIMIT", timedelta(milliseconds=200))
    with psycopg.connect(direct_database.admin_url) as connection:
        connection.execute("lock table minutehand.attempts in access exclusive mode")

        found = problem(api.get("/cost"), 503)

    assert found["title"] == "Reading the month takes too long"
    assert found["detail"] == "Run `minutehand cost`, which has no time limit."
    monkeypatch.setattr(cost, "LIMIT", timedelta(minutes=1))
    assert api.get("/cost").status_code == 200


def test_cost_that_gets_no_lock_names_the_busy_database(api, problem, direct_database, on_database):
    """What the command cannot do better has the general problem."""
    on_database(direct_database, Database(f"{direct_database.url}?options=-c%20lock_timeout%3D100"))
    with psycopg.connect(direct_database.admin_url) as connection:
        connection.execute("lock table minutehand.attempts in access exclusive mode")

        found = problem(api.get("/cost"), 503)

    assert found["title"] == "The database is unavailable"
    assert found["detail"] == "The database is too busy now."


@pytest.mark.parametrize(("of_role", "expected"), [("0", "10s"), ("3s", "3s"), ("1min", "10s")])
def test_report_keeps_a_lower_time_limit_of_the_role(jobs, of_role, expected):
    with jobs.transaction() as connection:
        connection.execute(f"set local statement_timeout = '{of_role}'")
        jobs.run("limit_time", milliseconds=10_000)
        (found,) = connection.execute("select current_setting('statement_timeout')").fetchone()

    assert found == expected
