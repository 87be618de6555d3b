"""`python -m emulator` builds and runs the whole project, and serves its API over HTTP."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import psutil
import pytest

from emulator.gateway import Gateway
from tests.emulator.conftest import CACHE, ROOT, NewLambda, ended
from tests.servers import Database
from tests.watchdog import line, watched

SECONDS = 240


def start(tmp_path: Path, *arguments: str, url: str = "") -> subprocess.Popen[str]:
    (tmp_path / ".emulator").symlink_to(CACHE)
    CACHE.mkdir(exist_ok=True)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200", "DATABASE_URL": url}
    return subprocess.Popen(
        [
            sys.executable,
            "-m",
            "emulator",
            "--template",
            str(ROOT / "template.yaml"),
            "--port",
            "0",
            *arguments,
        ],
        cwd=tmp_path,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


@pytest.mark.slow
def test_project_functions_run_the_example(direct_database: Database, tmp_path: Path) -> None:
    run = start(tmp_path, "--every", "1", "--until-idle", url=direct_database.url)
    output, _ = run.communicate(timeout=SECONDS)

    assert run.returncode == 0, output
    assert "Traceback" not in output and "failed      " not in output, output
    assert "WorkerFunction" in output and " 0 errors" in output
    assert "dead" in output.splitlines()[-1] and "done" in output.splitlines()[-1]


@pytest.mark.slow
def test_ctrl_c_ends_everything(direct_database: Database, tmp_path: Path) -> None:
    heard = ""
    with watched(start(tmp_path, "--no-seed", url=direct_database.url), SECONDS) as run:
        while "ticks" not in heard:
            heard += line(run)
        children = psutil.Process(run.pid).children(recursive=True)

        run.send_signal(signal.SIGINT)
        rest, _ = run.communicate(timeout=SECONDS)

    assert run.returncode == 0 and "Traceback" not in heard + rest, heard + rest
    assert children and ended(*(child.pid for child in children))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--template", "none.yaml"], "emulator: none.yaml cannot be read"),
        (["--set", "Nothing=1"], "emulator: the template does not have the parameter Nothing"),
        (["--env", "NAME"], "expected NAME=VALUE, got 'NAME'"),
    ],
)
def test_invalid_use_is_a_one_line_error(
    direct_database: Database, tmp_path: Path, arguments: list[str], says: str
) -> None:
    run = start(tmp_path, *arguments, url=direct_database.url)
    output, _ = run.communicate(timeout=SECONDS)

    assert run.returncode != 0
    assert says in output and "Traceback" not in output, output


def test_function_serves_http_like_an_http_api(new_lambda: NewLambda) -> None:
    lambda_ = new_lambda()
    with Gateway(lambda event: lambda_.invoke("Echo", {"do": "respond", **event}), 0) as gateway:
        answer = httpx.post(f"{gateway.url}/jobs/%C3%BC?a=1&a=2", content="text", timeout=SECONDS)
        empty = httpx.get(f"{gateway.url}/", timeout=SECONDS)
    with Gateway(lambda event: lambda_.invoke("Echo", {"do": "throw"}), 0) as gateway:
        broken = httpx.get(gateway.url, timeout=SECONDS)
    lambda_.limit("Echo", 0)
    with Gateway(lambda event: lambda_.invoke("Echo"), 0) as gateway:
        throttled = httpx.get(gateway.url, timeout=SECONDS)

    assert answer.status_code == 201
    assert answer.text == "/jobs/ü {'a': '1,2'} text"
    assert (answer.headers["x-method"], answer.headers["set-cookie"]) == ("POST", "a=1")
    assert empty.text == "/ None None"
    assert (broken.status_code, throttled.status_code) == (500, 503)
    assert json.loads(broken.text) == {"message": "Internal Server Error"}
