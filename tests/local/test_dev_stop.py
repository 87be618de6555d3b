"""Ctrl-C in `minutehand dev` while jobs run."""

import signal
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from subprocess import Popen

import pytest
from dev_runs import finished, left_behind, start, until

from minutehand import enqueue
from minutehand.database import Database
from minutehand.errors import UnreachableError
from minutehand.local import postgres

Begin = Callable[..., Popen[str]]


@pytest.fixture
def begin(project: Path) -> Begin:
    """Start a run with a job that waits, and press Ctrl-C once."""

    def begin(*, stubborn: bool = False) -> Popen[str]:
        run = start(project, "--no-seed")
        until(run, "ticks")
        with closing(Database((project / ".minutehand" / "url").read_text())) as database:
            payload = {"until": str(project / "open"), "stubborn": stubborn}
            enqueue("gate", payload, connection=database)
        until(run, "claimed")
        run.send_signal(signal.SIGINT)
        until(run, "stopping: 1 job is running; press Ctrl-C again to stop now")
        return run

    return begin


def test_running_job_ends_after_ctrl_c(project: Path, begin: Begin) -> None:
    run = begin()
    (project / "open").touch()

    assert "stopped: 1 enqueued, 1 done" in finished(run)
    assert (run.returncode, left_behind(project)) == (0, [])


def test_second_ctrl_c_interrupts_and_releases_the_job(project: Path, begin: Begin) -> None:
    run = begin()
    run.send_signal(signal.SIGINT)
    output = finished(run)

    assert "stopped: 1 enqueued, 1 released" in output and "crashed" not in output
    assert (run.returncode, left_behind(project)) == (130, [])
    server = postgres.start(project / ".minutehand")
    with closing(Database(server.url)) as database:
        rows = database.connection.execute("select claimed, attempts from minutehand.jobs_live").fetchall()
    assert rows == [(None, 0)]


def test_job_that_runs_for_too_long_is_released(project: Path, begin: Begin) -> None:
    run = begin()

    assert "stopped: 1 enqueued, 1 released" in finished(run)
    assert (run.returncode, left_behind(project)) == (130, [])


def test_job_that_ignores_the_interrupt_is_killed(project: Path, begin: Begin) -> None:
    run = begin(stubborn=True)
    run.send_signal(signal.SIGINT)

    assert "crashed" in finished(run)
    assert (run.returncode, left_behind(project)) == (130, [])


def stop_while_locked(run: Popen[str], url: str) -> None:
    with closing(Database(url)) as database, database.transaction():
        database.connection.execute("lock table minutehand.jobs_live in access exclusive mode")
        for _ in range(2):
            run.send_signal(signal.SIGINT)
        finished(run)


def test_run_ends_while_another_session_has_locked_the_jobs(project: Path) -> None:
    run = start(project, "--no-seed")
    until(run, "ticks")

    # The run stops the server of the other session.
    with pytest.raises(UnreachableError):
        stop_while_locked(run, (project / ".minutehand" / "url").read_text())
    assert left_behind(project) == []
