"""Whatever is killed, and whenever: the next run ends with every row once."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic, sleep

import pytest

from minutehand.database import connect
from minutehand_pipeline.errors import BusyError
from tests.pipeline.archive.stage import Stage
from tests.pipeline.running import ROOT, said

pytestmark = pytest.mark.long
SECONDS = 300
Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(stage: Stage) -> Iterator[Start]:
    """Start an archive that stops at a point, and wait until it is there."""
    started: list[subprocess.Popen[str]] = []

    def begin(point: str, home: str = "jobs_done") -> "subprocess.Popen[str]":
        asked = [point, home, stage.lake.path, stage.place["url_file"]]
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.pipeline.archive.mortal", *asked],
            cwd=ROOT, env=said({}), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip
        started.append(process)
        if point != "writing":
            assert process.stdout is not None
            assert process.stdout.readline() == f"at {point}\n"
        return process

    yield begin
    for process in started:
        kill(process)


def kill(process: "subprocess.Popen[str]") -> None:
    """End a driver, its Java and its tasks with SIGKILL, and wait until they are gone."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(SECONDS)
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            stream.close()


def until(condition: Callable[[], object]) -> None:
    deadline = monotonic() + SECONDS
    while not condition():
        assert monotonic() < deadline, "it did not come to be"
        sleep(0.05)


def sessions_are_over(stage: Stage) -> None:
    """What Postgres still does for who was killed would keep the days open, and the lock."""
    others = (
        "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
    )
    until(lambda: stage.sql(others) == [(0,)])


def every_row_is_there_once(stage: Stage) -> bool:
    return stage.laked() == stage.queued() and set(stage.laked().values()) == {1}


@pytest.mark.parametrize("point", ["read", "files", "verified", "committed", "noted"])
def test_a_run_that_is_killed_at_a_point_is_finished_by_the_next(
    stage: Stage, start: Start, point: str
) -> None:
    stage.fill(40)
    kill(start(point))
    sessions_are_over(stage)

    result = stage.archive(homes=("jobs_done",))

    assert every_row_is_there_once(stage)
    assert stage.sql("select sum(rows)::int, max(number) from minutehand.archive_batches") == [(40, 1)]
    # A commit that the ledger did not know of is known after that, and nothing is carried again.
    carried = sum(each.rows for each in result.days)
    assert carried == (0 if point in ("committed", "noted") else 40)


def test_a_driver_killed_while_its_tasks_write_leaves_nothing_that_counts(stage: Stage, start: Start) -> None:
    stage.fill(40)
    process = start("writing")
    until(lambda: list(Path(stage.home).glob("task-*")))
    kill(process)
    sessions_are_over(stage)

    stage.archive(homes=("jobs_done",))

    assert every_row_is_there_once(stage)


def test_a_task_killed_while_it_writes_is_done_again_in_the_same_run(stage: Stage, start: Start) -> None:
    stage.fill(40)
    process = start("writing")
    until(lambda: list(Path(stage.home).glob("task-*")))
    [task] = Path(stage.home).glob("task-*")
    os.kill(int(task.name.partition("-")[2]), signal.SIGKILL)
    (stage.home / "on").touch()

    assert process.wait(SECONDS) == 0
    assert every_row_is_there_once(stage)


@pytest.mark.parametrize("point", ["dropping", "dropped"])
def test_a_run_that_is_killed_around_a_drop_loses_nothing(stage: Stage, start: Start, point: str) -> None:
    stage.fill(40)
    before = stage.queued()
    kill(start(point))
    sessions_are_over(stage)

    stage.archive(homes=("jobs_done",), drop=True)

    assert stage.laked() == before
    assert stage.queued() == {}
    assert stage.sql("select to_regclass('minutehand.jobs_done_20260331')") == [(None,)]


@pytest.mark.parametrize("point", ["read", "files", "committed", "dropping"])
def test_rows_that_commit_only_after_a_killed_run_come_to_the_lake_before_their_day_is_dropped(
    stage: Stage, start: Start, point: str
) -> None:
    stage.fill(40)
    with connect(stage.database.url) as writer, writer.transaction():
        writer.execute(
            "insert into minutehand.jobs (kind, deleted)"
            " select 'late', timestamptz '2026-03-31 23:59:59+00' from generate_series(1, 3)"
        )
        kill(start(point))
    sessions_are_over(stage)
    before = stage.queued()

    stage.archive(homes=("jobs_done",), drop=True)

    assert len(before) == 43
    assert stage.laked() == before
    assert stage.queued() == {}


def test_a_database_that_ends_its_sessions_mid_read_fails_the_run_and_not_the_next(
    stage: Stage, start: Start
) -> None:
    stage.fill(40)
    process = start("read")
    stage.sql(
        "select pg_terminate_backend(pid) from pg_stat_activity"
        " where datname = current_database() and pid <> pg_backend_pid()"
    )
    process.communicate("\n", SECONDS)

    assert process.returncode != 0
    stage.archive(homes=("jobs_done",))
    assert every_row_is_there_once(stage)


def test_of_two_archivers_the_second_is_told_who_is_at_work(stage: Stage, start: Start) -> None:
    stage.fill(40)
    process = start("files")

    with pytest.raises(BusyError, match=r"another archive is at work, process \d+ of the database since 20"):
        stage.archive(homes=("jobs_done",))

    process.communicate("\n", SECONDS)
    assert every_row_is_there_once(stage)


def test_of_two_archivers_without_the_lock_the_lake_takes_one(stage: Stage, start: Start) -> None:
    """The first loses its connections, and with them the lock, and comes back when the second has committed."""
    stage.fill(40)
    process = start("verified")
    stage.sql(
        "select pg_terminate_backend(pid) from pg_stat_activity"
        " where datname = current_database() and pid <> pg_backend_pid()"
    )
    sessions_are_over(stage)
    stage.archive(homes=("jobs_done",))

    process.communicate("\n", SECONDS)

    assert process.returncode != 0
    assert every_row_is_there_once(stage)
    with connect(stage.database.url) as connection:
        [(number,)] = connection.execute("select max(number) from minutehand.archive_batches").fetchall()
    assert number == 1
