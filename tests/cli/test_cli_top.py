"""`minutehand top` in terminals of two sizes, once and live."""

from contextlib import closing

import psycopg
import pytest

from minutehand import Database, NewJob, enqueue_many
from minutehand.cli.top.lines import detail_lines
from minutehand.operations import controls
from minutehand.queries.top import detail, overview
from tests.cli.terminal import Terminal

RUNNING = "visible = now() + interval '5 minutes', ack = gen_random_uuid(), claimed = now(), attempts = 1"
ERROR = """error = '{"type": "TimeoutError", "message": "no answer"}'"""
CHANGES = {
    "running": RUNNING,
    "dead": f"deleted = now(), failed = true, attempts = 8, {ERROR}",
    "retrying": f"visible = now() + interval '1 hour', attempts = 1, {ERROR}",
    "late": "visible = now() - interval '2 hours', run_at = now() - interval '2 hours'",
}
DOWN, ESCAPE = "\x1b[B", "\x1b"
SIZES = [(80, 24), (120, 40)]


@pytest.fixture
def url(direct_database) -> str:
    """Two queues: mail with a job of each kind of change, and reports with 30 due jobs."""
    with closing(Database(direct_database.url)) as database:
        mail = [NewJob("welcome", queue="mail", key=key) for key in CHANGES]
        list(enqueue_many([*mail, *[NewJob("report", queue="reports")] * 30], connection=database))
    with psycopg.connect(direct_database.url) as connection:
        for key, change in CHANGES.items():
            connection.execute(f"update minutehand.jobs set {change} where key = %s", [key])
    return direct_database.url


def test_once_prints_json(url, invoke, lines):
    (found,) = lines(invoke("top", "--once", "-o", "json"))

    mail, reports = found["queues"]
    assert (mail["queue"], mail["due"], mail["running"], mail["finished"]) == ("mail", 1, 1, 1)
    assert mail["late"] >= 7200
    assert (reports["due"], reports["enqueued"], reports["paused"]) == (30, 30, False)
    assert found["failing"] == [
        {"queue": "mail", "kind": "welcome", "dead": 1, "retrying": 1, "error": "TimeoutError"}
    ]
    assert found["connections"] >= 1
    assert found["ticked"] is None


def test_once_prints_text_for_a_pipe(url, invoke):
    invoke("pause", "--queue", "mail")
    output = invoke("top", "--once").stdout

    assert "last tick never" in output
    assert [line for line in output.splitlines() if line.startswith("mail") and line.endswith("paused")]
    assert "TimeoutError" in output


def test_live_view_requires_a_terminal(url, invoke):
    refused = invoke("top")

    assert refused.exit_code == 2
    assert "use --once" in refused.stderr


@pytest.mark.parametrize(("columns", "lines"), SIZES)
def test_queue_is_paused_after_confirmation(url, columns, lines):
    with Terminal("top", "--interval", "0.2", url=url, columns=columns, lines=lines) as terminal:
        terminal.until("q quit")
        terminal.press(DOWN + "p")
        assert "Pause queue reports?" in "\n".join(terminal.until("Press y"))
        terminal.press("n" + "p" + "y")
        shown = terminal.until("Queue reports is paused.")
        terminal.press("q")
        terminal.end()

    assert terminal.process.returncode == 0
    assert [line for line in shown if line.startswith("reports") and line.endswith("paused")]
    with psycopg.connect(url) as connection:
        assert connection.execute("select queue from minutehand.controls where paused").fetchall() == [
            ("reports",)
        ]


@pytest.mark.parametrize(("columns", "lines"), SIZES)
def test_opened_queue_shows_its_jobs_and_why(url, columns, lines):
    with Terminal("top", "--interval", "0.2", url=url, columns=columns, lines=lines) as terminal:
        terminal.until("q quit")
        terminal.press("\r")
        # The last line of a screen is drawn last.
        shown = terminal.until("esc back")
        terminal.press(ESCAPE)
        back = terminal.until("enter open")
        terminal.press("\x03")
        terminal.end()

    assert terminal.process.returncode == 130
    assert [line for line in shown if line.startswith("Why: ")]
    assert [line for line in shown if " running " in line and "welcome" in line]
    assert [line for line in shown if " due " in line and "2 h" in line]
    assert [line for line in shown if "TimeoutError" in line]
    assert [line for line in back if line.startswith("reports")]


def test_command_of_an_opened_queue_is_whole_if_it_fits(url):
    with closing(Database(url)) as database:
        controls.pause(database, queue="mail")
        command = "minutehand resume --queue mail"
        shown = {width: _lines_of(database, width) for width in (20, len(command) + 2, 80)}

    assert f"Next: {command}" in shown[80]
    assert f"  {command}" in shown[len(command) + 2]
    assert "".join(shown[20]).replace(" ", "").count(command.replace(" ", "")) == 1
    assert max(map(len, shown[20])) <= 20


def _lines_of(database: Database, width: int) -> list[str]:
    return [line.text for line in detail_lines(detail(database, "mail"), overview(database), width)]


def test_view_shows_new_jobs(url, invoke):
    with Terminal("top", "--interval", "0.2", url=url) as terminal:
        terminal.until("q quit")
        invoke("enqueue", "echo", "--queue", "urgent")
        terminal.until("urgent")
        terminal.press("q")
        terminal.end()

    assert terminal.process.returncode == 0
