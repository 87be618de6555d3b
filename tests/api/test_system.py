"""The state of the installation over HTTP: ticks, budgets, versions of workers, and the doctor's findings."""

from datetime import timedelta

from minutehand import enqueue
from minutehand.claim import take
from minutehand.functions.api import findings
from minutehand.model.worker import Worker
from minutehand.schema.steps import migrations
from tests.api.stage import finish

MINUTE = timedelta(minutes=1)


def test_system_before_the_first_tick(api):
    system = api.get("/system").json()

    assert system["ticks"]["last"] is None
    assert (system["capacity"]["limit"], system["capacity"]["free"], system["mode"]) == (None, None, "minute")
    assert system["schema"]["version"] == system["schema"]["required"] == migrations()[-1].version
    assert system["budgets"] == system["workers"] == []


def test_system_shows_what_is_used_and_free(api, jobs, running):
    with jobs.transaction() as connection:
        connection.execute("update minutehand.dispatcher set capacity = 50, ticked = now(), since = now()")
        connection.execute(
            "insert into minutehand.budgets values ('default', 5, now()), ('old', 5, '2020-01-01')"
        )
    system = api.get("/system").json()
    (budget,) = system["budgets"]

    assert system["capacity"] == {"limit": 50, "used": 1, "free": 49}
    assert (budget["queue"], budget["budget"], budget["used"], budget["free"]) == ("default", 5, 1, 4)
    assert system["ticks"]["last"] == system["ticks"]["previous"] is not None


def test_system_lists_the_versions_of_workers(api, jobs):
    for version in ("41", "42", "42"):
        enqueue("echo", connection=jobs)
        (job,) = take(jobs, "default", 1, MINUTE, MINUTE, worker=Worker("shop-worker", version=version))
        finish(job)
    seen = api.get("/system").json()["workers"]

    assert [(each["worker"], each["version"], each["jobs"]) for each in seen] == [
        ("shop-worker", "42", 2),
        ("shop-worker", "41", 1),
    ]


def test_doctor_examines_the_database_at_most_once_a_minute(api, jobs, monkeypatch):
    def verdicts():
        return {each["check"]: each["verdict"] for each in api.get("/system").json()["findings"]}

    first = verdicts()
    assert (first["schema"], first["paused"], first["pooler"]) == ("ok", "ok", "skipped")
    api.post("/controls/pause", json={"everything": True})
    assert verdicts() == first

    monkeypatch.setattr(findings, "MAX_AGE", findings.MAX_AGE * 0)
    assert verdicts()["paused"] == "warning"
