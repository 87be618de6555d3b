"""After a kill at any point, a second run of the load ends with every job entered once."""

import os
import signal
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import psycopg
import pytest

from minutehand import enqueue
from minutehand.database import Database, connect
from minutehand_pipeline.errors import LoadError
from tests.pipeline.load import faulty
from tests.pipeline.load.gates import (
    COPYING,
    ENTERING,
    ROWS,
    SECONDS,
    WAITING,
    Ended,
    alone,
    driver,
    every_job_once,
    held,
    until,
    waits,
)
from tests.pipeline.load.stage import Stage

pytestmark = pytest.mark.kill


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("how", ["raise", "exit"])
def test_failed_attempt_is_repeated_and_counts_once(
    stage: Stage, jobs: str, monkeypatch: pytest.MonkeyPatch, when: str, how: str
) -> None:
    made = faulty.source(when, how, stage.home / "mark")
    monkeypatch.setattr(
        "minutehand_pipeline.load.load.register", lambda spark: spark.dataSource.register(made)
    )

    result = stage.load(jobs, load="once")

    assert (stage.home / "mark0").exists()
    assert result.created == ROWS
    every_job_once(stage)
    assert stage.staging() == []


def test_failing_task_enters_nothing(stage: Stage, jobs: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = faulty.source("after", "raise", stage.home / "mark", times=99)
    with monkeypatch.context() as patch:
        patch.setattr("minutehand_pipeline.load.load.register", lambda spark: spark.dataSource.register(made))
        with pytest.raises(LoadError, match="this attempt fails"):
            stage.load(jobs, load="once")

    assert stage.jobs() == [] and stage.staging() == [] and stage.rows("select * from minutehand.loads") == []
    assert stage.load(jobs, load="once").fresh
    every_job_once(stage)


def test_terminated_copy_session_is_retried(stage: Stage, jobs: str, gates: psycopg.Connection) -> None:
    with ThreadPoolExecutor() as pool, held(gates, COPYING):
        future = pool.submit(stage.load, jobs, load="once")
        until(waits(stage, "copy minutehand"), "a task copies", future)
        stage.rows(f"select pg_terminate_backend(pid) from ({WAITING}) waiting", "copy minutehand%")
        gates.execute("select pg_advisory_unlock_all()")
        assert future.result(SECONDS).created == ROWS

    every_job_once(stage)


def test_terminated_entry_leaves_nothing_visible(stage: Stage, jobs: str, gates: psycopg.Connection) -> None:
    with ThreadPoolExecutor() as pool, held(gates, ENTERING):
        future = pool.submit(stage.load, jobs, load="once")
        until(waits(stage, "enqueue_load"), "the load enters", future)
        assert stage.jobs() == [] and stage.rows("select * from minutehand.loads") == []
        stage.rows(f"select pg_terminate_backend(pid) from ({WAITING}) waiting", "%enqueue_load%")
        with pytest.raises(LoadError):
            future.result(SECONDS)

    assert stage.jobs() == [] and stage.staging() == []
    assert stage.load(jobs, load="once").fresh
    every_job_once(stage)


def test_concurrent_runs_of_a_load_enter_it_once(stage: Stage, jobs: str, gates: psycopg.Connection) -> None:
    with ThreadPoolExecutor() as pool:
        with held(gates, ENTERING):
            both = [pool.submit(stage.load, jobs, load="once") for _ in range(2)]
            until(lambda: len(waits(stage, "enqueue_load")()) == 2, "both enter", *both)  # type: ignore[arg-type]
        results = [each.result(SECONDS) for each in both]

    assert sorted(result.fresh for result in results) == [False, True]
    every_job_once(stage)
    assert stage.staging() == []


def test_concurrent_enqueue_of_same_keys_waits(stage: Stage, jobs: str, gates: psycopg.Connection) -> None:
    def enqueue_some(first: int) -> int:
        database = Database(stage.address.url)
        for n in range(first, ROWS, 30):
            enqueue("other", n, key=f"k{n}", connection=database)
        database.close()
        return first

    with ThreadPoolExecutor(8) as pool:
        with held(gates, ENTERING):
            loading: Future[Any] = pool.submit(stage.load, jobs, load="once")
            until(waits(stage, "enqueue_load"), "the load enters", loading)
            others = [pool.submit(enqueue_some, first) for first in range(5)]
        assert loading.result(SECONDS).created + loading.result().replaced == ROWS
        assert [other.result(SECONDS) for other in others] == list(range(5))

    assert stage.rows("select count(*), count(distinct key) from minutehand.jobs where deleted is null") == [
        (ROWS, ROWS)
    ]


@pytest.mark.parametrize("point", ["copying", "entering", "done"])
def test_next_load_completes_a_killed_one(
    stage: Stage, jobs: str, gates: psycopg.Connection, point: str
) -> None:
    stage.file("in/broken.ndjson", "x")
    before = stage.rows("select count(*) from pg_stat_activity where datname = current_database()")[0][0]
    with connect(stage.address.admin_url) as second, held(gates, COPYING if point == "copying" else ENTERING):
        with driver(stage, jobs) as process:
            words = {"copying": "copy minutehand"}.get(point, "enqueue_load")
            until(waits(stage, words), f"the driver is {point}", Ended(process, stage.home / "output"))
            if point == "done":
                second.execute("begin; lock table minutehand.load_runs in share mode")
                gates.execute("select pg_advisory_unlock_all()")
                until(lambda: stage.rows("select * from minutehand.loads"), "the load is entered")
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        gates.execute("select pg_advisory_unlock_all()")
        second.execute("rollback")
    until(alone(stage, before), "the killed run has ended")

    entered = stage.rows("select count(*) from minutehand.jobs")[0][0]
    # A separate process of Spark commits. It may outlive the driver, so the load is entered completely or not at all.
    assert entered in {"copying": (0,), "done": (ROWS,)}.get(point, (0, ROWS))
    result = stage.load(jobs, load="once", rejects=stage.home / "rejects")

    assert (result.fresh, result.created, result.rejected) == (entered == 0, ROWS, 1)
    every_job_once(stage)
    assert len((stage.home / "rejects").read_text().splitlines()) == 1
