"""The state of the installation over HTTP: ticks, budgets, versions of workers, and the doctor's findings."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from queue import LifoQueue

import psycopg
import pytest

from minutehand import enqueue
from minutehand.claim import take
from minutehand.functions.api import dependencies, findings
from minutehand.functions.api.routers import system as router
from minutehand.model.worker import Worker
from minutehand.schema.steps import migrations
from tests.api.stage import finish
from tests.queue.stage import WAITING
from tests.waiting import until

MINUTE = timedelta(minutes=1)
SECONDS = 60


@pytest.fixture(autouse=True)
def examiner(monkeypatch):
    """Examine the database in each test."""
    monkeypatch.setattr(router, "examiner", findings.Examiner())


@pytest.fixture
def pool(api, function, database, monkeypatch) -> Iterator[None]:
    """Let each request borrow one of the API's databases."""
    monkeypatch.setenv("DATABASE_URL", database.url)
    function.app.dependency_overrides.clear()
    yield
    for idle in dependencies._idle.queue:
        idle.close()


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


def test_examination_that_waits_for_a_lock_keeps_one_connection(api, pool, database):
    with (
        ThreadPoolExecutor(dependencies.POOL_SIZE + 2) as threads,
        psycopg.connect(database.admin_url) as connection,
    ):
        connection.execute("lock table minutehand.schedules")
        first = threads.submit(api.get, "/system")
        until(lambda: connection.execute(WAITING).fetchone()[0])
        others = [threads.submit(api.get, "/system") for _ in range(dependencies.POOL_SIZE + 1)]
        answers = [other.result(SECONDS) for other in others]

        assert {(answer.status_code, answer.json()["examined"]) for answer in answers} == {(200, None)}
        assert answers[0].json()["findings"] == []
        assert api.get("/jobs").status_code == 200
        connection.rollback()
        assert first.result(SECONDS).json()["findings"]


def test_request_without_a_free_connection_is_refused(api, function, problem, monkeypatch):
    function.app.dependency_overrides.clear()
    monkeypatch.setattr(dependencies, "_idle", LifoQueue())
    monkeypatch.setattr(dependencies, "WAIT_SECONDS", 0.01)
    refused = api.get("/jobs")

    assert "All 8 connections of the API to the database were in use" in problem(refused, 503)["detail"]
    assert refused.headers["retry-after"]
