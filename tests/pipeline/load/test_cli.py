"""`minutehand pipeline load` on the command line."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from minutehand.cli.exits import run_to_exit_code
from minutehand.cli.sleeping import COMMAND, WARNING
from minutehand.database import connect
from minutehand_pipeline.cli import pipeline
from tests.servers import Database

pytestmark = pytest.mark.long


def run_load(
    database: Database, folder: Path, *arguments: str, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run the command in a folder, and return what it printed."""
    return subprocess.run(
        [sys.executable, "-m", "minutehand_pipeline", "load", *arguments],
        cwd=folder,
        timeout=300,
        capture_output=True,
        text=True,
        env=os.environ | {"DATABASE_URL": database.url} | variables,
    )


def test_load_command_prints_counts_and_exits_with_1(direct_database: Database, tmp_path: Path) -> None:
    (tmp_path / "jobs.csv").write_text("kind,key\na,1\nb,1\n9,2\n")
    named = ("jobs.csv", "--load", "l")

    first = run_load(direct_database, tmp_path, *named, "-o", "json")
    again = run_load(direct_database, tmp_path, *named)

    assert (first.returncode, first.stderr) == (1, "")
    result = json.loads(first.stdout)
    del result["at"]
    assert result == {
        "load": "l",
        "fresh": True,
        "created": 1,
        "replaced": 0,
        "ignored": 1,
        "rejected": 1,
        "dry_run": False,
        "removed": 0,
    }
    assert json.loads((tmp_path / "rejects.ndjson").read_text())["line"] == 4
    assert again.returncode == 1
    assert "load l was already entered at" in again.stderr and ": 1 created" in again.stderr
    with connect(direct_database.url) as connection:
        assert connection.execute("select kind from minutehand.jobs").fetchall() == [("b",)]


def test_load_warns_that_a_sleeping_dispatcher_is_not_woken(
    direct_database: Database, tmp_path: Path
) -> None:
    (tmp_path / "jobs.csv").write_text("kind\na\n")
    with connect(direct_database.url) as connection:
        connection.execute("update minutehand.dispatcher set mode = 'sleep'")

    ended = run_load(direct_database, tmp_path, "jobs.csv")

    assert ended.returncode == 0
    assert ended.stderr.endswith(WARNING.format(subject=COMMAND) + "\n")


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["load"], 2, "Missing argument"),
        (["load", "x.csv", "--rate", "fast"], 2, "expected a rate such as 500/s, 1000/m or 50000/h"),
        (["load", "x.csv", "--rate", "0/s"], 2, "expected a rate such as 500/s"),
        (
            ["load", "x.csv", "--start", "2026-03-29T02:30", "--tz", "Europe/Berlin"],
            2,
            "does not exist in Europe/Berlin",
        ),
        (["load", "x.csv", "--start", "2026-03-29T02:30"], 2, "has no offset"),
        (
            ["load", "x.csv", "--tz", "Berlin"],
            2,
            "must be an IANA time zone such as Europe/Berlin, got 'Berlin'",
        ),
        (["load", "x.csv", "--on-conflict", "merge"], 2, "'merge' is not one of"),
        (["load", "x.csv", "--rate", "1/s", "--over", "6h"], 2, "expected --rate or --over, got both"),
        (["load", "x.csv", "--over", "0s"], 2, "over must be a duration above 0"),
        (
            ["load", "x.csv", "--rejects", "nowhere/r.ndjson"],
            2,
            "cannot be written (No such file or directory)",
        ),
        (["load", "x.csv"], 2, "DATABASE_URL is not set"),
    ],
)
def test_invalid_load_is_rejected_before_spark_starts(
    arguments: list[str],
    code: int,
    says: str,
    capfd: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)

    assert main(arguments) == code
    assert says in " ".join(capfd.readouterr().err.split())


def main(arguments: list[str]) -> int:
    from minutehand.cli.exits import exit_code_of

    def run() -> object:
        try:
            return pipeline.main(arguments, standalone_mode=False)
        except Exception as error:
            return exit_code_of(error)

    return run_to_exit_code(run)


def test_load_help_has_examples() -> None:
    result = CliRunner().invoke(pipeline, ["load", "--help"])

    assert result.exit_code == 0
    assert "minutehand pipeline load campaign.parquet --rate 500/s" in result.stdout


def test_missing_file_is_rejected_before_spark_starts(direct_database: Database, tmp_path: Path) -> None:
    ended = run_load(direct_database, tmp_path, "missing.csv", SPARK_REMOTE="sc://127.0.0.1:1")

    assert (ended.returncode, ended.stdout) == (2, "")
    assert "no file matches missing.csv" in ended.stderr
