"""`minutehand doctor`: its output and exit codes."""

import os
import subprocess
import sys

import pytest

from minutehand.doctor import DATABASE_CHECKS


def test_doctor_prints_every_check_and_advice_for_problems(run, fresh_database):
    """Autovacuum is off on the servers of the tests, which is a problem."""
    ended = run("doctor", url=fresh_database.url)
    lines = ended.stdout.decode().splitlines()
    checks = [line.split()[1] for line in lines if not line.startswith(" ")]

    assert ended.returncode == 1
    assert checks == [*DATABASE_CHECKS]
    place = lines.index("problem  autovacuum     autovacuum is off on this server")
    assert lines[place + 1].strip().startswith("do: set autovacuum and track_counts to on")
    assert ended.stderr.decode() == "26 checks: 23 ok, 1 problem, 2 warnings.\n"


def test_json_has_an_object_for_each_check(invoke, lines):
    found = lines(invoke("doctor", "-o", "json"))

    assert [line["check"] for line in found] == [*DATABASE_CHECKS]
    assert all(sorted(line) == ["advice", "check", "found", "verdict"] for line in found)


def test_unreachable_database_is_a_finding_without_the_password(run):
    ended = run("doctor", url="postgresql://ada:s3cret@127.0.0.1:1/jobs")

    assert ended.returncode == 1
    assert ended.stdout.startswith(b"problem  reachable      the database cannot be reached: ")
    assert b"s3cret" not in ended.stdout + ended.stderr


def test_doctor_without_a_database_says_how_to_set_one(run):
    ended = run("doctor")

    assert (ended.returncode, ended.stdout) == (2, b"")
    assert b"DATABASE_URL is not set" in ended.stderr


@pytest.mark.parametrize("argument", ["web=shop", "api", "api="])
def test_invalid_function_option_is_rejected(invoke, argument):
    ended = invoke("doctor", "--function", argument)

    assert ended.exit_code == 2
    assert "--function must be PART=NAME" in ended.stderr


def test_invalid_capacity_is_reported(invoke, monkeypatch):
    monkeypatch.setenv("MINUTEHAND_CAPACITY", "many")

    assert invoke("doctor").exit_code == 2


def test_stack_without_boto3_names_the_extra(fresh_database):
    script = "import sys; sys.modules['boto3'] = None; from minutehand.cli import main; main()"
    ended = subprocess.run(
        [sys.executable, "-c", script, "doctor", "--stack", "shop"],
        capture_output=True,
        timeout=180,
        env=os.environ | {"DATABASE_URL": fresh_database.url},
    )

    assert ended.returncode == 2
    assert b"pip install 'minutehand[aws]'" in ended.stderr
