"""Tables and texts in terminals of different widths."""

import json
import re
import traceback
from contextlib import closing

import psycopg
import pytest

from minutehand import Database, NewJob, enqueue_many
from tests.cli.terminal import Terminal, is_command

SHORT_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}(-[0-9a-f]+)*$")
ERROR = (
    '{"type": "ConnectionRefusedError", "message": "the provider does not accept connections at the moment"}'
)
DEAD = f"deleted = now() - interval '5 hours', failed = true, attempts = 8, error = '{ERROR}'"


@pytest.fixture
def url(direct_database) -> str:
    """A database with three jobs: dead, paused and due."""
    with closing(Database(direct_database.url)) as database:
        jobs = [NewJob("invoice.send", key=f"invoice/{n}", queue="accounting") for n in range(3)]
        list(enqueue_many(jobs, connection=database))
    with psycopg.connect(direct_database.url) as connection:
        connection.execute(f"update minutehand.jobs set {DEAD} where key = 'invoice/0'")
        connection.execute(
            "update minutehand.jobs set kind = 'report' , visible = now() - interval '2 hours' where key = 'invoice/2'"
        )
    return direct_database.url


def printed(
    *arguments: str, url: str, columns: int = 80, pager: str = "cat", piped: bool = False
) -> list[str]:
    with Terminal(*arguments, url=url, columns=columns, piped=piped, PAGER=pager) as terminal:
        return terminal.end()


@pytest.mark.parametrize("columns", [60, 80, 120, 200])
def test_list_has_one_whole_line_for_each_job(url, columns):
    header, *rows = printed("ls", url=url, columns=columns)

    assert len(rows) == 3
    assert all(len(row) <= columns for row in rows)
    assert all(SHORT_ID.match(row.split()[0]) for row in rows)
    assert all("accounting" in row for row in rows) or columns < 80
    assert ("at" in header.split()) == (columns >= 120)


def test_list_cuts_what_does_not_fit(url):
    narrow, wide = (printed("ls", "--state", "dead", url=url, columns=columns)[1] for columns in (80, 200))

    assert "dead 5 h ago: " in narrow
    assert narrow.endswith("…")
    assert "ConnectionRefusedError: the provider does not accept connections at the moment" in wide


def test_list_of_batches_has_short_ids_that_commands_accept(url, invoke):
    batches = [invoke("batches", "open", "--name", name).stdout.strip() for name in ("May", "June")]
    _, *rows = printed("batches", "ls", url=url, columns=120)
    short = [row.split()[0] for row in rows]

    assert [row.split()[1] for row in rows] == ["June", "May"]
    assert all(len(part) < 36 for part in short)
    assert [
        json.loads(invoke("batches", "show", part, "-o", "json").stdout)["id"] for part in short
    ] == batches[::-1]
    assert all(batch in invoke("batches", "ls").stdout for batch in batches)


def test_list_in_a_pipe_has_full_ids(url, invoke):
    piped = [line.split()[0] for line in invoke("ls").stdout.splitlines()[1:]]

    assert piped == invoke("ls", "-o", "ids").stdout.split()


@pytest.mark.parametrize("arguments", ["ls", "show --key {key} --queue accounting"])
def test_long_names_and_errors_are_whole_in_a_pipe(url, invoke, arguments):
    key, message = "invoice/" + "0" * 60, "the provider does not accept connections: " * 6
    with psycopg.connect(url) as connection:
        connection.execute(
            "update minutehand.jobs set key = %s, error = %s where key = 'invoice/0'",
            [key, json.dumps({"type": "ConnectionRefusedError", "message": message})],
        )
    whole = f"dead 5 h ago: ConnectionRefusedError: {message.strip()}"
    words = arguments.format(key=key).split()

    output = invoke(*words).stdout
    assert key in output
    assert any(whole in line for line in output.splitlines())
    assert whole not in " ".join(line.strip() for line in printed(*words, url=url))


def test_long_list_goes_through_the_pager(direct_database):
    with closing(Database(direct_database.url)) as database:
        list(enqueue_many([NewJob("echo")] * 40, connection=database))

    assert len(printed("ls", url=direct_database.url, pager="head -3")) == 3
    assert len(printed("ls", "--limit", "20", url=direct_database.url, pager="head -3")) > 20


@pytest.mark.parametrize("verb", ["show", "why"])
def test_sentences_are_broken_between_words(url, invoke, verb):
    invoke("pause", "--queue", "accounting", "--reason", "the provider is down until the weekend is over")
    job = invoke("ls", "--key", "invoice/2", "-o", "ids").stdout.strip()
    lines = printed(verb, job, url=url, columns=60)

    words = set(invoke(verb, job).stdout.split())
    assert all(len(line) <= 60 or is_command(line) for line in lines)
    # Times and ages change from one call to the next.
    times = {word for word in words if ":" in word or word.strip("(").isdigit()}
    assert {word for line in lines for word in line.split()} >= words - times


def test_stats_separates_paused_from_late_jobs(url, invoke):
    invoke("pause", "--kind", "report")
    header, row = (line.split() for line in printed("stats", url=url)[:2])

    assert dict(zip(header, row, strict=False)) | {"late": "-"} == {
        "queue": "accounting",
        "due": "1",
        "paused": "1",
        "dead": "1",
        "late": "-",
    }
    assert " ".join(row[4:]) != "2 h"


def test_stats_leaves_out_columns_that_do_not_fit(url, invoke):
    states = {"scheduled": "visible = now() + interval '1 day'", "cancelled": f"{DEAD}, cancelled = true"}
    for name, change in states.items():
        invoke("enqueue", "echo", "--queue", "accounting", "--key", name)
        with psycopg.connect(url) as connection:
            connection.execute(f"update minutehand.jobs set {change} where key = %s", [name])

    lines = printed("stats", url=url, columns=36)

    assert lines[0].split() == ["queue", "scheduled", "due", "dead", "late"]
    assert lines[2] == "(not shown for lack of width: cancelled)"


@pytest.mark.parametrize("arguments", [["doctor"], ["--help"]])
def test_findings_and_help_fit_80_columns(url, arguments):
    lines = printed(*arguments, url=url)

    assert len(lines) > 20
    assert [line for line in lines if len(line) > 80 and not is_command(line)] == []


def test_doctor_loses_nothing_in_20_columns(url, invoke):
    """Only words: numbers such as milliseconds differ from one run to the next."""
    lines = printed("doctor", url=url, columns=20)

    assert [line for line in lines if len(line) > 20 and not is_command(line)] == []
    joined = "".join("".join(lines).split())
    for check in ("reachable", "max-payload", "old-snapshot"):
        assert check in joined
    assert "setautovacuumandtrack_countstoon;withoutthemthetablesonlygrow" in joined


def test_marks_of_a_long_source_line_are_shown(url, invoke, tmp_path):
    """Python marks a part of a source line with carets below it, here in column 100."""
    source = tmp_path / "invoices.py"
    source.write_text(f"def send(lines):\n    {'total = ' * 12}lines['sum']\n")
    names = {}
    exec(compile(source.read_text(), str(source), "exec"), names)
    with pytest.raises(KeyError) as caught:
        names["send"]({})
    trace = "".join(traceback.format_exception(caught.value))
    assert any(len(line) - len(line.lstrip()) > 80 for line in trace.splitlines())
    with psycopg.connect(url) as connection:
        connection.execute(
            "update minutehand.jobs set error = %s where key = 'invoice/0'",
            [json.dumps({"type": "KeyError", "message": "'sum'", "trace": trace})],
        )

    lines = printed("show", "--key", "invoice/0", "--queue", "accounting", "--payload", url=url)

    assert all(len(line) <= 80 for line in lines)
    assert any(line.strip() == "^" * len("lines['sum']") or "~^" in line for line in lines)


def test_messages_have_the_width_of_their_own_stream(url, invoke):
    invoke("pause", "--all", "--reason", "the provider is down until the weekend is over")
    lines = printed("stats", url=url, columns=40, piped=True)

    assert len(lines) > 2
    assert all(len(line) <= 40 for line in lines)


def test_commands_have_lines_of_their_own(url, invoke):
    invoke("pause", "--queue", "accounting", "--kind", "report")
    paused = invoke("ls", "--key", "invoice/2", "-o", "ids").stdout.strip()
    dead = "minutehand delete --state dead --finished-until 0s"

    assert "    minutehand resume --queue accounting --kind report" in printed(
        "why", paused, url=url, columns=30
    )
    assert dead in [line.strip() for line in printed("doctor", url=url, columns=60)]
    assert f"or: {dead}" in invoke("doctor").stdout
    invoke("pause", "--all", "--reason", "minutehand is being upgraded")
    assert printed("stats", url=url, columns=40, piped=True)[-2:] == [
        "upgraded. To resume:",
        "  minutehand resume --all",
    ]
