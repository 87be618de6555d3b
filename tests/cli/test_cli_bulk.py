"""`minutehand enqueue --file`: many jobs, streamed."""

import json

import psycopg
import pytest


def count(url: str) -> int:
    with psycopg.connect(url) as connection:
        return len(connection.execute("select id from minutehand.jobs").fetchall())


def test_large_file_is_enqueued_and_its_faults_are_reported(run, database):
    bad = {
        100: b"{broken",
        7001: b'{"kind": "no spaces"}',
        7002: b"\xff\xfe",
        19_999: b'{"kind": "echo", "size": 1}',
    }
    stdin = b"".join(
        bad.get(line, b'{"kind": "echo", "payload": %d}' % line) + b"\n" for line in range(1, 20_001)
    )
    ended = run("enqueue", "--file", "-", url=database.url, stdin=stdin)
    messages = ended.stderr.decode().splitlines()

    assert ended.returncode == 1
    assert messages[-1] == "19996 created, 0 replaced, 0 ignored, 4 rejected"
    assert sorted(line.split(":")[0] for line in messages[:-1]) == [
        "line 100",
        "line 19999",
        "line 7001",
        "line 7002",
    ]
    assert count(database.admin_url) == 19_996


def test_json_reports_every_line(run, direct_database):
    stdin = b'{"kind": "echo", "key": "a"}\n\n{"kind": "echo", "key": "a"}\nnull\n{"kind": 7, "x": 1}\n'
    ended = run("enqueue", "--file", "-", "-o", "json", url=direct_database.url, stdin=stdin)
    reported = [json.loads(line) for line in ended.stdout.splitlines()]

    assert ended.returncode == 1
    assert {each["line"]: each["outcome"] for each in reported} == {
        1: "ignored",
        3: "created",
        4: "rejected",
        5: "rejected",
    }


def test_fault_of_a_line_names_the_field_and_what_it_received(invoke, tmp_path):
    (tmp_path / "jobs.ndjson").write_text(
        '{"kind": "echo", "delay": "-5m"}\n{"kind": "echo", "priority": 12}\n{"kind": "echo", "run_at": "soon"}\n'
    )
    result = invoke("enqueue", "--file", str(tmp_path / "jobs.ndjson"))

    assert "line 1: delay: '-5m' is not a duration; " in result.stderr
    assert "line 2: priority must be an integer from 0 to 9, got 12\n" in result.stderr
    assert "line 3: run_at: 'soon' is not a time; " in result.stderr


def test_ids_of_enqueued_jobs_can_be_piped(run, direct_database):
    made = run(
        "enqueue", "--file", "-", "-o", "ids", url=direct_database.url, stdin=b'{"kind": "echo"}\n' * 3
    )
    cancelled = run("cancel", "-", url=direct_database.url, stdin=made.stdout)

    assert cancelled.returncode == 0
    assert cancelled.stderr.decode() == "3 cancelled, 0 refused\n"


def test_rejects_are_written_to_the_named_file(invoke, tmp_path):
    source, rejects = tmp_path / "jobs.jsonl", tmp_path / "rejects.ndjson"
    source.write_text('{"kind": "echo"}\nnonsense\n')
    result = invoke("enqueue", "--file", str(source), "--rejects", str(rejects))

    assert (result.exit_code, result.stderr) == (1, "1 created, 0 replaced, 0 ignored, 1 rejected\n")
    assert json.loads(rejects.read_text()) == {"line": 2, "reason": "not JSON: Expecting value (column 1)"}


def test_rejects_never_overwrite_the_input(invoke, tmp_path):
    source = tmp_path / "jobs.ndjson"
    source.write_text('{"kind": "echo"}\n')

    assert invoke("enqueue", "--file", str(source), "--rejects", str(source)).exit_code == 2
    assert source.read_text() == '{"kind": "echo"}\n'


def test_csv_has_the_same_fields_as_ndjson(invoke, lines, tmp_path):
    source = tmp_path / "jobs.csv"
    source.write_text(
        "\ufeffkind,payload,queue,key,run_at,delay,priority,max_attempts,timeout,retry,headers\r\n"
        'echo,"{""a"":\n ""x""}",mail,k,2030-01-01T00:00,,9,2,90s,'
        '"{""strategy"": ""fixed"", ""min"": ""5s""}","{""h"": ""1""}"\r\n'
        "\r\n"
        "echo,,,,,10m,,,,,\r\n"
        "echo,hello,,,,,,,,,\r\n"
        "echo\r\n"
        "echo,,,,,,high,,,,\r\n"
    )
    result = invoke("enqueue", "--file", str(source), "--tz", "UTC")
    first = lines(invoke("ls", "--queue", "mail", "-o", "json"))[0]
    shown = lines(invoke("show", first["id"], "--payload", "-o", "json"))[0]

    assert result.exit_code == 1
    assert result.stderr.splitlines() == [
        "line 6: payload: not JSON: Expecting value (column 1)",
        "line 7: expected 11 cells as in the header, got 1",
        "line 8: priority must be an integer",
        "2 created, 0 replaced, 0 ignored, 3 rejected",
    ]
    assert (shown["payload"], shown["headers"], shown["timeout"]) == ({"a": "x"}, {"h": "1"}, 90)
    assert (shown["run_at"], shown["retry"]["min"]) == ("2030-01-01T00:00:00+00:00", 5)


@pytest.mark.parametrize("header", ["payload", "kind,kind", "kind,color", "", '"kind'])
def test_csv_with_an_invalid_header_is_rejected(invoke, tmp_path, header):
    source = tmp_path / "jobs.csv"
    source.write_text(f"{header}\necho,echo\n")

    assert invoke("enqueue", "--file", str(source)).exit_code == 2


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"kind": "echo", "run_at": "2026-01-01T00:00"}', "has no offset"),
        ('{"kind": "echo", "run_at": 5}', "run_at must be an ISO 8601 time"),
        ('{"kind": "echo", "delay": "soon"}', "is not a duration"),
        ('{"kind": "echo", "delay": -1}', "delay must not be negative"),
        ('{"kind": "echo", "delay": 1e300}', "the duration is too long"),
        ('{"kind": "echo", "delay": true}', "a duration must be a number of seconds"),
        ('{"kind": "echo", "payload": NaN}', "NaN is not JSON"),
        ('{"kind": "echo", "payload": "\\ud800"}', "lone surrogate"),
        ('{"kind": "echo", "key": "\\u0000"}', "NUL"),
        ('{"kind": "echo", "priority": 11}', "priority must be an integer"),
        ('{"kind": "echo", "priority": "x"}', "priority must be an integer"),
        ('{"kind": "echo", "retry": {"color": 1}}', "unknown field of retry 'color'"),
        ('{"kind": "echo", "retry": 5}', "retry must be an object"),
        ('{"kind": "echo", "headers": {"a": 1}}', "headers must be an object"),
        ('{"kind": "echo", "headers": []}', "headers must be an object"),
        ('{"payload": 1}', "kind is missing"),
        ('{"kind": null}', "kind is missing"),
        ("[]", "a line must be a JSON object"),
        ("[" * 50_000, "nested too deeply"),
        ('{"kind": "echo", "payload": ' + "9" * 5000 + "}", "limit"),
    ],
)
def test_invalid_line_is_rejected_and_the_others_are_enqueued(invoke, tmp_path, line, says):
    source = tmp_path / "jobs.ndjson"
    source.write_text('{"kind": "echo"}\n' + line + '\n{"kind": "echo"}\n')
    result = invoke("enqueue", "--file", str(source))
    rejected, counts = result.stderr.splitlines()

    assert result.exit_code == 1
    assert rejected.startswith("line 2: ")
    assert says in rejected
    assert counts == "2 created, 0 replaced, 0 ignored, 1 rejected"


def test_empty_file_is_accepted(invoke, tmp_path):
    source = tmp_path / "jobs.csv"
    source.write_text("kind\n")

    assert invoke("enqueue", "--file", str(source)).exit_code == 0


def test_key_options_are_read_from_a_file(invoke, tmp_path):
    table = tmp_path / "jobs.csv"
    table.write_text(
        "kind,payload,key,on_conflict,unique_for,debounce,personal,every,zone\n"
        "echo,[1],k,merge,,,true,,\n"
        "echo,[2],k,merge,,,false,,\n"
        "echo,,once,,1d,,,,\n"
        "echo,,once,ignore,1d,,,,\n"
        "echo,,later,,,10m,,,\n"
        "echo,,,,,,,@daily,Europe/Berlin\n"
        "echo,,,,,,yes,,\n"
        "echo,,,,1d,,,,\n"
    )
    ended = invoke("enqueue", "--file", str(table))

    assert ended.stderr.splitlines()[-1] == "4 created, 0 replaced, 1 merged, 1 ignored, 2 rejected"
    assert "personal must be true or false" in ended.stderr
    assert "require a key" in ended.stderr
