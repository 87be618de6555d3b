"""Schedules on the command line."""

import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from minutehand import Database
from minutehand.schedules.fire import fire_due
from tests.servers import Database as Server

MONDAYS = ("schedules", "put", "report", "0 8 * * mon", "report", '{"n": 1}', "--zone", "Europe/Berlin")


def test_schedule_commands_manage_a_schedule(invoke, lines):
    assert invoke(*MONDAYS, "--catch-up", "last", "--queue", "slow", "--timeout", "90s").exit_code == 0
    (reported,) = lines(invoke("schedules", "ls", "-o", "json"))
    assert (reported["name"], reported["every"], reported["zone"], reported["catch_up"]) == (
        "report",
        "0 8 * * mon",
        "Europe/Berlin",
        "last",
    )
    assert reported["job"] == {"kind": "report", "queue": "slow", "timeout": 90.0}
    assert "report" in invoke("schedules", "ls").stdout

    assert invoke("schedules", "pause", "report").exit_code == 0
    assert "paused" in invoke("schedules", "ls").stdout
    assert invoke("schedules", "resume", "report").exit_code == 0
    job = invoke("schedules", "run", "report").stdout.strip()
    assert lines(invoke("ls", "-o", "json"))[0]["id"] == job
    shown = invoke("schedules", "show", "report").stdout
    assert job in shown
    assert "kind report, queue slow, timeout 1 min 30 s" in shown
    assert (
        lines(invoke("schedules", "show", "report", "-o", "json"))[0]["firings"][0]["outcome"] == "requested"
    )

    assert invoke("schedules", "delete", "report").exit_code == 0
    assert invoke("schedules", "ls", "-o", "names").stdout == ""


def test_list_shows_why_a_schedule_did_not_fire(invoke, direct_database: Server):
    invoke(*MONDAYS)
    database = Database(direct_database.admin_url)
    database.connection.execute("update minutehand.schedules set every = 'full moon', wake = now()")
    fire_due(database)
    database.close()

    header, row = invoke("schedules", "ls").stdout.splitlines()

    assert header.endswith("ERROR")
    assert "InvalidJobError: every must be a cron expression" in row


def test_actor_of_a_schedule_change_is_recorded(invoke, direct_database: Server):
    invoke(*MONDAYS)
    database = Database(direct_database.admin_url)
    found = database.connection.execute("select verb, actor from minutehand.audit").fetchall()
    database.close()

    assert [verb for verb, who in found if who] == ["schedule put"]


def test_every_option_of_a_schedule_is_stored(invoke, lines):
    invoke(
        "schedules",
        "put",
        "all",
        "PT15M",
        "report",
        "--starts",
        "2030-01-01T08:00:00",
        "--ends",
        "2031-01-01T08:00:00",
        "--tz",
        "Europe/Berlin",
        "--jitter",
        "90s",
        "--ahead",
        "1h",
        "--catch-up",
        "all",
        "--limit",
        "7",
        "--key",
        "a key",
        "--priority",
        "9",
        "--max-attempts",
        "2",
        "--retry",
        "fixed",
        "--retry-min",
        "3s",
    )
    invoke("schedules", "put", "alone", "@daily", "report", "--overlap", "skip")
    reported = {each["name"]: each for each in lines(invoke("schedules", "ls", "-o", "json"))}
    schedule = reported["all"]

    assert reported["alone"]["overlap"] == "skip"
    assert (schedule["starts"], schedule["ends"]) == (
        "2030-01-01T07:00:00+00:00",
        "2031-01-01T07:00:00+00:00",
    )
    assert (schedule["jitter"], schedule["ahead"], schedule["catch_up"], schedule["max_catch_up"]) == (
        90,
        3600,
        "all",
        7,
    )
    assert schedule["job"]["retry"]["strategy"] == "fixed"
    assert (schedule["job"]["key"], schedule["job"]["priority"], schedule["job"]["max_attempts"]) == (
        "a key",
        9,
        2,
    )
    assert schedule["next"] == schedule["starts"]


def test_preview_needs_no_database(run):
    shown = run(
        "schedules",
        "preview",
        "30 2 * * *",
        "--zone",
        "America/Los_Angeles",
        "-n",
        "400",
        url="postgresql://nowhere:1/x",
    )

    assert shown.returncode == 0
    assert b"02:30:00 PST" in shown.stdout
    assert b"03:00:00 PDT" in shown.stdout


def test_preview_shows_local_time_and_utc(invoke, lines):
    moments = lines(
        invoke("schedules", "preview", "PT15M", "--zone", "Asia/Kathmandu", "-n", "3", "-o", "json")
    )

    assert len(moments) == 3
    assert all(each["local"].endswith("+05:45") and each["utc"].endswith("+00:00") for each in moments)
    assert all(
        datetime.fromisoformat(each["local"]) == datetime.fromisoformat(each["utc"]) for each in moments
    )


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("preview", "whenever"), 2),
        (("preview", "@daily", "--zone", "Mars/Olympus"), 2),
        (("put", "a", "@reboot", "report"), 2),
        (("put", "a", "@daily", "report", "{"), 2),
        (("put", "a", "@daily", "report", "--starts", "tomorrow"), 2),
        (("put", "a", "@daily", "report", "--tz", "Asia/Tokyo"), 2),
        (("put", "a", "@daily", "no kind"), 2),
        (("delete", "nothing"), 1),
        (("run", "nothing"), 1),
        (("install", "no.such.module"), 2),
    ],
    ids=str,
)
def test_invalid_schedule_command_is_rejected(invoke, arguments, code):
    result = invoke("schedules", *arguments)

    assert result.exit_code == code, result.output
    assert result.stderr.strip()
    assert "Traceback" not in result.output


def test_schedules_are_installed_from_a_module(
    invoke, lines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, direct_database
):
    (tmp_path / "our_own.py").write_text(
        "from minutehand import NewJob\nfrom minutehand.schedules import Schedule\n"
        "SCHEDULES = [Schedule('a', '@daily', NewJob('a')), Schedule('boot', '@reboot', NewJob('boot'))]\n"
    )
    monkeypatch.syspath_prepend(tmp_path)

    assert lines(invoke("schedules", "install", "our_own", "-o", "json"))[0]["added"] == ["a", "boot"]
    assert "2 unchanged" in invoke("schedules", "install", "our_own:SCHEDULES").stderr
    database = Database(direct_database.url)
    assert fire_due(database, datetime.now(UTC) + timedelta(minutes=1)).fired >= 1
    database.close()
    monkeypatch.setenv("MINUTEHAND_VERSION", "2")
    assert lines(invoke("schedules", "install", "our_own", "-o", "json"))[0]["changed"] == ["boot"]
    sys.modules.pop("our_own")
    assert json.loads(invoke("schedules", "ls", "-o", "json").stdout.splitlines()[0])["source"] == "code"
    other = invoke("schedules", "install", "our_own", "--source", "other")
    assert (other.exit_code, "schedule 'a' exists and was not installed by 'other'" in other.stderr) == (
        1,
        True,
    )
