"""A command that needs a tick warns if the dispatcher sleeps and the command requests none."""

from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from minutehand.cli.sleeping import COMMAND, WARNING
from tests.cli.conftest import Invoke
from tests.servers import Database

WARNED = WARNING.format(subject=COMMAND) + "\n"
SetMode = Callable[[str], None]


@pytest.fixture
def set_mode(direct_database: Database) -> SetMode:
    """Store the mode of the latest tick."""

    def store(mode: str) -> None:
        with psycopg.connect(direct_database.url) as connection:
            connection.execute("update minutehand.dispatcher set mode = %s", [mode])

    return store


@pytest.fixture
def job(invoke: Invoke) -> str:
    """A job that is scheduled."""
    return invoke("enqueue", "echo", "--key", "k", "--in", "1h", "-o", "ids").stdout.strip()


@pytest.mark.parametrize(
    "arguments",
    [
        "enqueue echo",
        "enqueue --file jobs.ndjson",
        "limit 2 --kind echo",
        "promote JOB",
        "schedules put daily @daily echo",
    ],
)
def test_command_that_needs_a_tick_warns(
    arguments: str, job: str, invoke: Invoke, set_mode: SetMode, tmp_path: Path
) -> None:
    (tmp_path / "jobs.ndjson").write_text('{"kind": "echo"}\n')
    set_mode("sleep")

    result = invoke(*(_filled(word, job, tmp_path) for word in arguments.split()))

    assert result.exit_code == 0
    assert result.stderr.endswith(WARNED)
    assert result.stderr.count(WARNED) == 1


def _filled(word: str, job: str, folder: Path) -> str:
    return {"JOB": job, "jobs.ndjson": str(folder / word)}.get(word, word)


def test_cancelled_predecessor_warns_of_its_successor(job: str, invoke: Invoke, set_mode: SetMode) -> None:
    invoke("enqueue", "echo", "--after", job, "--after-failure", "run")
    set_mode("sleep")

    assert invoke("cancel", job).stderr.endswith(WARNED)


@pytest.mark.parametrize(
    "arguments",
    [
        "cancel JOB",
        "enqueue echo --key k --on-conflict ignore",
        "ls",
        "promote absent",
        "schedules resume absent",
        "unblock absent",
    ],
)
def test_command_that_makes_no_job_due_does_not_warn(
    arguments: str, job: str, invoke: Invoke, set_mode: SetMode, tmp_path: Path
) -> None:
    set_mode("sleep")

    result = invoke(*(_filled(word, job, tmp_path) for word in arguments.split()))

    assert WARNED not in result.stderr


@pytest.mark.parametrize("mode", ["minute", "prompt"])
def test_command_does_not_warn_in_other_modes(mode: str, invoke: Invoke, set_mode: SetMode) -> None:
    set_mode(mode)

    assert invoke("enqueue", "echo").stderr == ""


def test_role_that_may_not_read_the_mode_gets_no_warning(
    invoke: Invoke, set_mode: SetMode, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_mode("sleep")
    monkeypatch.setenv("PGOPTIONS", "-c role=minutehand_enqueuer")

    result = invoke("enqueue", "echo")

    assert (result.exit_code, result.stderr) == (0, "")
