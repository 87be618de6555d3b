"""`minutehand dev` in a project that `minutehand init` created, and with a module alone."""

import json
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from dev_runs import SECONDS, finished, left_behind, processes_of, start, until

from minutehand.local import postgres
from tests.ports import free_port

ALONE = """
from minutehand import job

@job
def greet(name: str) -> str:
    return f"Hello, {name}!"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    for process in processes_of(tmp_path):
        process.kill()
    for home in tmp_path.glob("**/.minutehand"):
        postgres.stop(home)


def minutehand(folder: Path, *arguments: str) -> None:
    command = [sys.executable, "-m", "minutehand", *arguments]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


def newest_result(folder: Path) -> Any:
    url = (folder / ".minutehand" / "url").read_text()
    with psycopg.connect(url) as connection:
        row = connection.execute("select result from minutehand.jobs order by id desc limit 1").fetchone()
    return row and row[0]


def post(url: str, body: Any = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method="POST")
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.load(response)


def test_project_runs_its_jobs_and_reloads_its_code(folder: Path) -> None:
    minutehand(folder, "init", "shop")
    shop, port = folder / "shop", free_port()
    run = start(shop, port=port)
    until(run, "ticks")

    minutehand(shop, "enqueue", "welcome", '{"email": "ada@example.com"}')
    until(run, "done ")
    assert newest_result(shop) == "Welcome, ada@example.com!"

    jobs = shop / "shop" / "jobs.py"
    changed = jobs.read_text().replace("Welcome, {email}", "Hello, {email} ({plan})")
    jobs.write_text(changed.replace("(email: str)", "(email: str, plan: str)"))
    assert "shop/jobs.py" in until(run, "reloaded")
    # The API checks the arguments.
    enqueued = post(
        f"http://127.0.0.1:{port}/jobs",
        {"kind": "welcome", "payload": {"email": "ada@example.com", "plan": "pro"}},
    )
    assert enqueued["outcome"] == "created"
    until(run, "done ")
    assert newest_result(shop) == "Hello, ada@example.com (pro)!"

    run.send_signal(signal.SIGINT)
    finished(run)
    assert left_behind(shop) == []


def test_api_that_does_not_start_is_reported(folder: Path) -> None:
    minutehand(folder, "init", "shop")
    (folder / "shop" / "shop" / "api.py").write_text("import nonsense")
    run = start(folder / "shop")
    printed = until(run, "ticks")
    run.send_signal(signal.SIGINT)
    run.communicate(timeout=SECONDS)

    assert "No module named 'nonsense'" in printed
    assert "shop.api:app did not start" in printed


def test_ctrl_c_stops_a_run_whose_api_is_still_starting(folder: Path) -> None:
    minutehand(folder, "init", "shop")
    (folder / "shop" / "shop" / "api.py").write_text("import signal\nsignal.pause()")
    run = start(folder / "shop")
    until(run, "schema")
    run.send_signal(signal.SIGINT)

    printed = finished(run)
    assert "stopped:" in printed
    assert "did not start" not in printed and "ticks" not in printed


def test_project_serves_its_own_api_once_it_is_announced(folder: Path) -> None:
    minutehand(folder, "init", "shop")
    run = start(folder / "shop")
    printed = until(run, "ticks")

    found = re.search(r"your API +(http://127\.0\.0\.1:\d+)  \(shop\.api:app\)", printed)
    assert found is not None
    created = post(f"{found[1]}/customers?email=ada@example.com")
    until(run, created["job"][-12:])

    run.send_signal(signal.SIGINT)
    finished(run)


def test_own_api_gets_no_request_before_it_is_announced(folder: Path) -> None:
    minutehand(folder, "init", "shop", "--django")
    run = start(folder / "shop")
    printed = until(run, "ticks")
    found = re.search(r"your API +(http://127\.0\.0\.1:\d+)", printed)
    run.send_signal(signal.SIGINT)
    printed += finished(run)

    assert found is not None
    assert "Not Found" not in printed


def test_own_api_answers_when_reloaded_is_printed(folder: Path) -> None:
    minutehand(folder, "init", "shop")
    run = start(folder / "shop")
    found = re.search(r"your API +(http://127\.0\.0\.1:\d+)", until(run, "ticks"))
    assert found is not None

    with (folder / "shop" / "shop" / "api.py").open("a") as api:
        api.write("\n# changed\n")
    until(run, "reloaded")

    assert "job" in post(f"{found[1]}/customers?email=ada@example.com")
    run.send_signal(signal.SIGINT)
    finished(run)


def test_change_of_a_file_during_the_start_is_noticed(folder: Path) -> None:
    minutehand(folder, "init", "shop")
    run = start(folder / "shop")
    until(run, "schema")

    with (folder / "shop" / "shop" / "jobs.py").open("a") as jobs:
        jobs.write("\n# changed\n")

    assert "shop/jobs.py" in until(run, "reloaded").splitlines()[-1]
    run.send_signal(signal.SIGINT)
    finished(run)


def test_module_alone_is_enough(folder: Path) -> None:
    (folder / "greetings.py").write_text(ALONE)
    run = start(folder, "--handlers", "greetings")
    until(run, "ticks")

    minutehand(folder, "enqueue", "greet", '{"name": "Ada"}')
    until(run, "done ")

    assert newest_result(folder) == "Hello, Ada!"
    run.send_signal(signal.SIGINT)
    finished(run)


def test_missing_module_is_a_one_line_error(folder: Path) -> None:
    run = start(folder, "--handlers", "shop.jobs")

    output = finished(run)

    assert (run.returncode, "module shop.jobs not found in" in output, output.count("\n")) == (5, True, 1)


def test_module_that_cannot_be_imported_is_refused_at_start(folder: Path) -> None:
    (folder / "greetings.py").write_text("import nopkg")
    run = start(folder, "--handlers", "greetings")

    output = finished(run)

    message = (
        "greetings cannot be imported: ModuleNotFoundError: No module named 'nopkg' (greetings.py, line 1)"
    )
    assert (run.returncode, message in output) == (2, True)


def test_folder_without_jobs_is_a_one_line_error(folder: Path) -> None:
    run = start(folder)

    output = finished(run)

    assert (run.returncode, "minutehand init NAME" in output, output.count("\n")) == (5, True, 1)
