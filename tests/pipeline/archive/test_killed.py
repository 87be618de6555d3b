"""After a kill at any point, the next run ends with every row archived once."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from minutehand.database import connect
from minutehand_pipeline.errors import BusyError
from tests.pipeline.archive.stage import Stage
from tests.pipeline.running import ROOT, clean_environment
from tests.waiting import until

pytestmark = pytest.mark.kill
SECONDS = 300
Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(stage: Stage) -> Iterator[Start]:
    """Start an archive, and wait until it stops at a point."""
    started: list[subprocess.Popen[str]] = []

    def begin(point: str, home: str = "jobs_done") -> "subprocess.Popen[str]":
        arguments = [point, home, stage.lake.path, stage.location["url_file"]]
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.pipeline.archive.mortal", *arguments],
            cwd=ROOT,
            env=clean_environment({}),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        started.append(process)
        if point != "writing":
            assert process.stdout is not None
            assert process.stdout.readline() == f"at {point}\n"
        return process

    yield begin
    for process in started:
        kill(process)


def kill(process: "subprocess.Popen[str]") -> None:
    """Kill a driver, its Java and its tasks with SIGKILL, and wait for them."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(SECONDS)
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            stream.close()


def wait_for_sessions(stage: Stage) -> None:
    """Wait until the killed process's transactions have ended; they hold the lock and keep days open."""
    others = """select count(*) from pg_stat_activity
                 where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null"""
    until(lambda: stage.sql(others) == [(0,)])


def every_row_is_there_once(stage: Stage) -> bool:
    return stage.archived() == stage.queued() and set(stage.archived().values()) == {1}


@pytest.mark.parametrize("point", ["read", "files", "verified", "committed", "recorded"])
def test_next_run_completes_a_killed_run(stage: Stage, start: Start, point: str) -> None:
    """The run copies two days together, and is killed at the first one, before the second one is committed."""
    stage.fill(40, days=2)
    kill(start(point))
    wait_for_sessions(stage)

    result = stage.archive(homes=("jobs_done",))

    assert every_row_is_there_once(stage)
    assert stage.sql("select sum(rows)::int, max(number) from minutehand.archive_batches") == [(40, 2)]
    # A commit that the ledger lacked is recorded, and nothing is archived again.
    archived = sum(each.rows for each in result.days)
    assert archived == (20 if point in ("committed", "recorded") else 40)


def test_killed_driver_leaves_no_committed_rows(stage: Stage, start: Start) -> None:
    stage.fill(40)
    process = start("writing")
    until(lambda: list(Path(stage.home).glob("task-*")))
    kill(process)
    wait_for_sessions(stage)

    stage.archive(homes=("jobs_done",))

    assert every_row_is_there_once(stage)


def test_killed_task_is_retried_in_the_same_run(stage: Stage, start: Start) -> None:
    stage.fill(40)
    process = start("writing")
    until(lambda: list(Path(stage.home).glob("task-*")))
    [task] = Path(stage.home).glob("task-*")
    os.kill(int(task.name.partition("-")[2]), signal.SIGKILL)
    (stage.home / "on").touch()

    assert process.wait(SECONDS) == 0
    assert every_row_is_there_once(stage)


@pytest.mark.parametrize("point", ["dropping", "dropped"])
def test_kill_around_a_drop_loses_nothing(stage: Stage, start: Start, point: str) -> None:
    """Two days are copied together; the first is dropped before the second is committed."""
    stage.fill(40, days=2)
    before = stage.queued()
    kill(start(point))
    wait_for_sessions(stage)

    stage.archive(homes=("jobs_done",), drop=True)

    assert stage.archived() == before
    assert stage.queued() == {}
    for day in ("20260330", "20260331"):
        assert stage.sql(f"select to_regclass('minutehand.jobs_done_{day}')") == [(None,)]


@pytest.mark.parametrize("point", ["read", "files", "committed", "dropping"])
def test_late_rows_after_a_kill_are_archived_before_drop(stage: Stage, start: Start, point: str) -> None:
    stage.fill(40)
    with connect(stage.database.url) as writer, writer.transaction():
        writer.execute(
            "insert into minutehand.jobs (kind, deleted)"
            " select 'late', timestamptz '2026-03-31 23:59:59+00' from generate_series(1, 3)"
        )
        kill(start(point))
    wait_for_sessions(stage)
    before = stage.queued()

    stage.archive(homes=("jobs_done",), drop=True)

    assert len(before) == 43
    assert stage.archived() == before
    assert stage.queued() == {}


def test_terminated_sessions_fail_one_run_only(stage: Stage, start: Start) -> None:
    stage.fill(40)
    process = start("read")
    stage.sql(
        "select pg_terminate_backend(pid, 60000) from pg_stat_activity"
        " where datname = current_database() and pid <> pg_backend_pid()"
    )
    process.communicate("\n", SECONDS)

    assert process.returncode != 0
    stage.archive(homes=("jobs_done",))
    assert every_row_is_there_once(stage)


def test_second_archive_reports_the_holder_of_the_lock(stage: Stage, start: Start) -> None:
    stage.fill(40)
    process = start("files")

    with pytest.raises(BusyError, match=r"another archive is running: database process \d+, since 20"):
        stage.archive(homes=("jobs_done",))

    process.communicate("\n", SECONDS)
    assert every_row_is_there_once(stage)


def test_lake_accepts_one_of_two_archives_without_lock(stage: Stage, start: Start) -> None:
    """The first loses its connections and so the lock, and continues after the second has committed."""
    stage.fill(40)
    process = start("verified")
    stage.sql(
        "select pg_terminate_backend(pid, 60000) from pg_stat_activity"
        " where datname = current_database() and pid <> pg_backend_pid()"
    )
    wait_for_sessions(stage)
    stage.archive(homes=("jobs_done",))

    process.communicate("\n", SECONDS)

    assert process.returncode != 0
    assert every_row_is_there_once(stage)
    with connect(stage.database.url) as connection:
        [(number,)] = connection.execute("select max(number) from minutehand.archive_batches").fetchall()
    assert number == 1
