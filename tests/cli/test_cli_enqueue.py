"""`minutehand enqueue`, one job at a time."""

import json

import pytest

import minutehand
from minutehand.queries.jobs import get, list_jobs


def the_job(invoke_result, direct_database):
    database = minutehand.Database(direct_database.url)
    row = get(database, list_jobs(database).rows[0].id)
    database.close()
    return row


def test_every_option_reaches_the_row(invoke, direct_database):
    result = invoke(
        "enqueue",
        "mail.welcome",
        '{"to": "ada", "n": 123456789012345678901234567890}',
        "--queue",
        "mail",
        "--key",
        "k",
        "--at",
        "2030-03-01T08:00",
        "--tz",
        "Europe/Berlin",
        "--priority",
        "9",
        "--max-attempts",
        "3",
        "--timeout",
        "90s",
        "--header",
        "a=b=c",
        "--header",
        "d=",
        "--retry",
        "linear",
        "--retry-min",
        "1s",
        "--retry-max",
        "PT2M",
        "--retry-factor",
        "2",
        "--no-jitter",
        "-o",
        "ids",
    )
    row = the_job(result, direct_database)

    assert (result.exit_code, result.stdout) == (0, f"{row.id}\n")
    assert row.payload == {"to": "ada", "n": 123456789012345678901234567890}
    assert (row.kind, row.queue, row.key, row.priority, row.max_attempts) == (
        "mail.welcome",
        "mail",
        "k",
        9,
        3,
    )
    assert row.run_at.isoformat() == row.visible.isoformat()
    assert row.run_at.timestamp() == 1898578800
    assert row.timeout is not None
    assert row.timeout.total_seconds() == 90
    assert row.headers == {"a": "b=c", "d": ""}
    assert row.retry == {"strategy": "linear", "min": 1, "max": 120, "factor": 2, "jitter": False}


def test_payload_dash_reads_stdin(invoke, direct_database):
    result = invoke("enqueue", "echo", "-", stdin='["ü", 1.5, null]')

    assert result.exit_code == 0
    assert the_job(result, direct_database).payload == ["ü", 1.5, None]


def test_key_conflict_replaces_ignores_or_raises(invoke, lines):
    first, again, kept = (
        lines(invoke("enqueue", "echo", "1", "--key", "k", "-o", "json", "--in", "1h", *more))[0]
        for more in ([], [], ["--on-conflict", "ignore"])
    )
    taken = invoke("enqueue", "echo", "1", "--key", "k", "--on-conflict", "raise")

    assert [first["outcome"], again["outcome"], kept["outcome"]] == ["created", "replaced", "ignored"]
    assert first["id"] == again["id"] == kept["id"]
    assert (taken.exit_code, taken.stdout) == (1, "")
    assert "upcoming job with key" in taken.stderr


def test_key_options_reach_the_library(invoke, lines):
    def say(payload, *more):
        return lines(invoke("enqueue", "echo", payload, "--key", "order/17", "-o", "json", *more))[0][
            "outcome"
        ]

    assert say("[1]", "--debounce", "1h", "--debounce-max", "2h") == "created"
    assert say("[2]", "--on-conflict", "merge") == "merged"
    assert (
        say("[2]", "--unique-for", "1d", "--on-conflict", "ignore", "--unique-while", "running") == "ignored"
    )
    assert invoke("enqueue", "echo", "--key", "k", "--throttle", "1h", "--debounce", "1h").exit_code == 2


def test_recurring_job_uses_its_zone(invoke, direct_database):
    row = the_job(
        invoke("enqueue", "report", "--every", "0 8 * * mon", "--zone", "Asia/Tokyo", "--personal"),
        direct_database,
    )

    assert (row.run_at.weekday(), row.run_at.hour) == (6, 23)
    assert "Europe/Berlin" in invoke("enqueue", "report", "--every", "@daily", "--zone", "Mars/Base").stderr


def test_due_time_is_printed_for_people(invoke):
    reported = invoke("enqueue", "echo", "--in", "800d").stdout

    assert reported.startswith("created ")
    assert ", due in 2 y " in reported


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["echo", "{broken"], 2, "must be JSON"),
        (["echo", "NaN"], 2, "must be JSON"),
        (["echo", "hello"], 2, "write a string with both quotes"),
        (["echo", "--at", "2026-03-01T08:00"], 2, "has no offset"),
        (["echo", "--at", "2026-03-01T08:00", "--tz", "Mars/Base"], 2, "must be an IANA time zone"),
        (["echo", "--at", "2026-03-01T08:00Z", "--in", "1h"], 2, "expected --at or --in, got both"),
        (["echo", "--in", "-5m"], 2, "--in"),
        (["echo", "--in", "soon"], 2, "is not a duration"),
        (["echo", "--in", "4000000d"], 2, "--in: the time must not be after the year 9999"),
        (["echo", "--priority", "10"], 2, "priority must be an integer from 0 to 9, got 10"),
        (["echo", "--timeout", "2d"], 2, "timeout must be a duration above zero"),
        (["echo", "--zone", "Europe/Berlin"], 2, "--zone requires --every; for the zone of --at, use --tz"),
        (["echo", "--tz", "Mars/Base"], 2, "--tz: must be an IANA time zone"),
        (["echo", "--every", "@daily", "--tz", "Asia/Tokyo"], 2, "for the zone of --every, use --zone"),
        (["echo", "--header", "x"], 2, "NAME=VALUE"),
        (["echo", "--header", "x=1", "--header", "x=2"], 2, "'x' must be given once, got it twice"),
        (["echo", "--retry-min", "2h", "--retry-max", "1h"], 2, "retry must have a strategy"),
        (["echo", "--key", "k" * 10_000], 2, "key must be a text of 1 to 1024 bytes"),
        (["'; drop schema minutehand cascade; --"], 2, "kind must be 1 to 100 letters"),
        (["k\udcff"], 2, "must be valid Unicode"),
        (["echo", json.dumps("x" * 300_000)], 2, "the payload is too large"),
        ([], 2, "expected KIND or --file, got neither"),
        (["echo", "--rejects", "x"], 2, "require --file"),
        (["--file", "x.ndjson", "--priority", "3"], 2, "priority must not be combined with --file"),
        (["--file", "x.ndjson"], 2, "cannot open"),
        (["--file", "x.txt"], 2, "must end with .ndjson, .jsonl, .json, .csv, got 'x.txt'; or set --format"),
        (["--file", "a\0b.csv"], 2, "cannot open"),
    ],
)
def test_invalid_job_is_rejected_in_one_line_and_not_stored(invoke, arguments, code, says):
    result = invoke("enqueue", *arguments)

    assert (result.exit_code, result.stdout) == (code, "")
    assert says in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert invoke("ls", "-o", "ids").stdout == ""


def test_hostile_text_is_stored_and_escaped(invoke):
    key = "'; drop table minutehand.jobs; -- \x1b[2J [red]$(reboot)"
    invoke("enqueue", "echo", "--key", key)
    listed = invoke("ls", "--key", key)

    assert "\\x1b[2J" in listed.stdout
    assert "\x1b" not in listed.stdout
    assert "\x1b" not in invoke("show", listed.stdout.splitlines()[1].split()[0]).stdout
