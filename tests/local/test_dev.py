"""`minutehand dev` runs the whole project, survives a restart, and leaves no process behind."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from dev_runs import SECONDS, finished, left_behind, processes_of, start, until

from minutehand.local import postgres
from tests.ports import free_port
from tests.servers import Database

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Path]:
    for part in ("functions", "events"):
        shutil.copytree(ROOT / part, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__"))
    yield tmp_path
    for process in processes_of(tmp_path):
        process.kill()
    postgres.stop(tmp_path / ".minutehand")


def command(project: Path, *words: str) -> str:
    return subprocess.run(
        [sys.executable, "-m", "minutehand", *words], cwd=project, capture_output=True, text=True
    ).stdout


def test_dev_runs_the_seed_and_continues_after_a_restart(
    project: Path,
) -> None:
    port = free_port()
    first = start(project, "--until-idle", port=port)
    seen = finished(first)
    assert first.returncode == 0, seen
    assert f"http://127.0.0.1:{port}/console\n" in seen.partition("enqueued")[0]

    for word in ("enqueued", "offered", "claimed", "done", "retried", "dead"):
        assert re.search(rf"^\d\d:\d\d:\d\d  {word}\b", seen, re.MULTILINE), word
    assert re.search(r"stopped: 14 enqueued, 13 done, 5 retried, 1 dead", seen)
    assert left_behind(project) == []

    again = start(project, "--no-seed")
    until(again, "waiting for jobs")
    url = (project / ".minutehand" / "url").read_text()
    with psycopg.connect(url) as connection:
        ends = connection.execute(
            "select failed, count(*) from minutehand.jobs where deleted is not null group by 1 order by 1"
        ).fetchall()
    # Both commands find the database without DATABASE_URL.
    listed = command(project, "ls", "--state", "dead", "-o", "json")
    retried = command(project, "retry", json.loads(listed)["id"])
    claimed = until(again, "claimed").splitlines()[-1]
    again.send_signal(signal.SIGINT)
    finished(again)

    assert '"key": "github/security-advisory-published"' in listed, retried
    # A job of the first run.
    assert "github/security-advisory-published" in claimed
    assert ends == [(False, 13), (True, 1)]
    assert left_behind(project) == []


def test_ctrl_c_stops_a_busy_run_cleanly(project: Path) -> None:
    run = start(project)
    until(run, "claimed")

    os.killpg(run.pid, signal.SIGINT)
    output = finished(run)

    assert run.returncode == 0
    assert "stopped" in output
    assert left_behind(project) == []


def test_run_starts_after_a_killed_run(project: Path) -> None:
    run = start(project)
    until(run, "claimed")
    run.kill()
    run.communicate(timeout=SECONDS)

    again = start(project, "--no-seed")
    until(again, "ticks")
    again.send_signal(signal.SIGINT)
    finished(again)

    assert again.returncode == 0
    assert left_behind(project) == []


def test_second_run_in_a_directory_is_rejected(project: Path) -> None:
    first = start(project, "--no-seed")
    until(first, "ticks")

    second = start(project, "--no-seed")
    output = finished(second)
    first.send_signal(signal.SIGINT)
    finished(first)

    assert second.returncode == 5
    assert "a local run is already using" in output


def test_port_in_use_is_a_one_line_error(project: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        run = start(project, port=taken.getsockname()[1])
        output = finished(run)

    assert run.returncode == 5
    assert output.count("\n") == 1 and "is in use; choose another with --port" in output


def test_data_of_another_version_are_a_one_line_error(project: Path) -> None:
    postgres.start(project / ".minutehand", version=16).stop()

    run = start(project)

    assert "contains the data of Postgres 16" in finished(run).splitlines()[-1]
    assert run.returncode == 5


def test_unreachable_database_is_an_error_without_the_password(project: Path) -> None:
    run = start(project, url=f"postgresql://postgres:hunter2@127.0.0.1:{free_port()}/postgres")

    output = finished(run)

    assert run.returncode == 3
    assert "cannot be reached" in output and "hunter2" not in output


def test_read_only_database_is_a_one_line_error(project: Path, empty_database: Database) -> None:
    with psycopg.connect(empty_database.admin_url, autocommit=True) as connection:
        name = connection.info.dbname
        connection.execute(f'alter database "{name}" set default_transaction_read_only = on'.encode())

    run = start(project, url=empty_database.url)

    assert "is read-only" in finished(run)
    assert run.returncode == 3


def test_newer_schema_is_a_one_line_error(project: Path, direct_database: Database) -> None:
    with psycopg.connect(direct_database.admin_url, autocommit=True) as connection:
        connection.execute(
            "insert into minutehand.migrations (version, name, checksum) values (9999, 'later', '')"
        )

    run = start(project, url=direct_database.url)

    assert "newer than this code" in finished(run)
    assert run.returncode == 4


def test_directory_without_a_project_is_a_one_line_error(tmp_path: Path) -> None:
    run = start(tmp_path)

    assert "no modules with jobs are configured in" in finished(run)
    assert run.returncode == 5
