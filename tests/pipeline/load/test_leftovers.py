"""What a killed load leaves behind is found and removed, and nothing of a living one."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import psycopg
import pytest
from pyspark.sql.types import StringType, StructField, StructType

from minutehand.database import Database, connect
from minutehand.doctor import ExaminedDatabase, Finding, examine_database
from minutehand.maintenance import run_maintenance
from minutehand_pipeline.load import loads
from minutehand_pipeline.queue.terms import read_terms
from minutehand_pipeline.queue.writing import QueueWriter, staging_table
from tests.pipeline.load.gates import (
    COPYING,
    ROWS,
    SECONDS,
    Ended,
    alone,
    driver,
    every_job_once,
    held,
    until,
    waits,
)
from tests.pipeline.load.stage import Stage

BEGIN = "select minutehand.begin_load('once', %s)"
DEAD = "select run::text from minutehand.dead_loads()"
HOLDERS = """
select l.pid from pg_locks l join minutehand.load_runs r on l.locktype = 'advisory' and l.objsubid = 1
       and (l.classid::bigint << 32 | l.objid::bigint) = minutehand.load_lock(r.run)
"""


def begin(stage: Stage, *, guarded: bool) -> str:
    """Begin a run whose driver ends at once."""
    run = str(uuid4())
    with connect(stage.address.url) as connection, connection.transaction():
        if guarded:
            connection.execute(loads.GUARD, [run])
        with connect(stage.address.url) as planner:
            planner.execute(BEGIN, [run])
        assert stage.rows(DEAD) == []
    return run


def sweep(stage: Stage) -> None:
    """Run the maintenance of a tick, with its sweep."""
    stage.rows("update minutehand.dispatcher set swept = '-infinity' returning 1")
    report = run_maintenance(Database.borrow(stage.connection))
    assert report.swept and not report.failed


def test_next_load_removes_the_table_of_a_killed_one(stage: Stage) -> None:
    run = begin(stage, guarded=True)
    assert stage.rows(DEAD) == [(run,)] and len(stage.staging()) == 1

    result = stage.load(stage.file("jobs.csv", "kind", "email"))

    assert (result.created, result.removed) == (1, 1)
    assert stage.staging() == []


def test_repeated_load_removes_the_table_of_an_earlier_run(stage: Stage) -> None:
    jobs = stage.file("jobs.csv", "kind", "email")
    stage.load(jobs, load="once")
    begin(stage, guarded=True)

    result = stage.load(jobs, load="once")

    assert (result.fresh, result.removed) == (False, 1)
    assert stage.staging() == []


def test_repeated_load_succeeds_if_it_cannot_remove_a_table(stage: Stage) -> None:
    jobs = stage.file("jobs.csv", "kind", "email")
    stage.load(jobs, load="once")
    begin(stage, guarded=True)
    [(name,)] = stage.rows("select quote_ident(current_database())")
    with connect(stage.address.admin_url) as admin:
        admin.execute(f"alter database {name} set default_transaction_read_only = on".encode())

    result = stage.load(jobs, load="once")

    assert (result.fresh, result.removed) == (False, 0)
    assert len(stage.staging()) == 1


def test_sweep_removes_the_table_of_a_killed_load(stage: Stage) -> None:
    begin(stage, guarded=True)
    sweep(stage)

    assert stage.staging() == []


def test_table_without_a_guard_stays_for_a_day(stage: Stage) -> None:
    run = begin(stage, guarded=False)

    with connect(stage.address.url) as connection:
        first = loads.end_dead_runs(Database.borrow(connection))
        stage.rows("update minutehand.load_runs set began = now() - interval '25 hours' returning 1")
        second = loads.end_dead_runs(Database.borrow(connection))

    assert (first, second) == (0, 1) and not loads.has_staging_table(Database.borrow(stage.connection), run)


def test_spark_that_outlives_a_killed_driver_creates_no_table(stage: Stage) -> None:
    columns = StructType([StructField("kind", StringType())])

    QueueWriter(read_terms({"load": "once", "run": str(uuid4())}), columns, lambda: stage.address.url)

    assert stage.staging() == []


def test_table_in_use_stays(stage: Stage) -> None:
    run = begin(stage, guarded=True)
    with connect(stage.address.url) as task, task.transaction():
        task.execute(f"select count(*) from minutehand.{staging_table(run)}")

        with connect(stage.address.url) as connection:
            assert loads.end_dead_runs(Database.borrow(connection)) == 0

    assert len(stage.staging()) == 1


def test_rejected_rows_of_an_entered_load_stay_for_its_repetition(stage: Stage) -> None:
    run = begin(stage, guarded=True)
    stage.rows("insert into minutehand.loads (load, run, rejected) values ('once', %s, 3) returning 1", run)

    assert stage.rows(DEAD) == []


def test_table_of_a_running_load_stays(stage: Stage, gates: psycopg.Connection) -> None:
    # One file is one task. Two would wait at the gate on both of Spark's cores, and the other load would wait for them.
    job = stage.file("job.ndjson", '{"kind": "gated"}')
    with ThreadPoolExecutor() as pool:
        with held(gates, COPYING):
            running = pool.submit(stage.load, job, load="once")
            until(waits(stage, "copy minutehand"), "a task copies", running)
            assert stage.rows(DEAD) == []
            sweep(stage)
            assert stage.load(stage.file("other.csv", "kind", "email")).removed == 0
            assert len(stage.staging()) == 1
        assert running.result(SECONDS).created == 1


def test_load_that_loses_its_lock_is_entered(stage: Stage, jobs: str, gates: psycopg.Connection) -> None:
    with ThreadPoolExecutor() as pool:
        with held(gates, COPYING):
            running = pool.submit(stage.load, jobs, load="once")
            until(waits(stage, "copy minutehand"), "a task copies", running)
            assert stage.rows(f"select pg_terminate_backend(pid) from ({HOLDERS}) holders") == [(True,)]
        assert running.result(SECONDS).created == ROWS

    every_job_once(stage)
    assert stage.staging() == []


@pytest.mark.kill
def test_table_of_a_killed_load_is_reported_and_removed(
    stage: Stage, jobs: str, gates: psycopg.Connection
) -> None:
    before = stage.rows("select count(*) from pg_stat_activity where datname = current_database()")[0][0]
    with held(gates, COPYING), driver(stage, jobs) as process:
        until(waits(stage, "copy minutehand"), "the driver copies", Ended(process, stage.home / "output"))
        assert finding(stage).verdict == "ok"
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    until(alone(stage, before), "the killed run has ended")

    assert finding(stage).verdict == "warning" and "load once left a table" in finding(stage).found
    sweep(stage)
    assert finding(stage).verdict == "ok" and stage.staging() == []
    assert stage.load(jobs, load="once").created == ROWS


def finding(stage: Stage) -> Finding:
    """Return what the doctor says about loads."""
    with connect(stage.address.admin_url) as first, connect(stage.address.admin_url) as second:
        pair = Database.borrow(first), Database.borrow(second)
        return next(each for each in examine_database(ExaminedDatabase(*pair, 50)) if each.check == "loads")
