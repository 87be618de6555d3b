"""`minutehand work`: real processes and real signals."""

import json
import os
import select
import signal
import subprocess
import sys
from contextlib import closing, suppress
from datetime import timedelta
from pathlib import Path

import psutil
import psycopg
import pytest

from minutehand import Database, NewJob, enqueue_many
from tests.waiting import until

SECONDS = 180

HANDLER = '''
def handle(payload):
    """Report the start, and end when requested."""
    with open(payload["begun"], "w") as begun:
        begun.write("+")
    with open(payload["go"]) as go:
        go.read()
'''


@pytest.fixture
def handlers(tmp_path):
    """A folder with a handler that waits and one that kills its process."""
    folder = tmp_path / "handlers"
    folder.mkdir()
    (folder / "wait.py").write_text(HANDLER)
    (folder / "quick.py").write_text("def handle(payload): return payload")
    (folder / "die.py").write_text(
        "import os, signal\ndef handle(payload): os.kill(os.getpid(), signal.SIGKILL)"
    )
    return str(folder)


@pytest.fixture
def gates(tmp_path):
    """The payload of the waiting handler: two pipes."""
    gates = {name: str(tmp_path / name) for name in ("begun", "go")}
    for path in gates.values():
        os.mkfifo(path)
    return gates


def until_begun(gates):
    """Wait until the handler reports its start."""
    begun = os.open(gates["begun"], os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert select.select([begun], [], [], SECONDS)[0], f"no handler reported its start in {SECONDS} s"
    finally:
        os.close(begun)


def let_go(gates):
    """Let the handler end, when it reads the other pipe."""

    def opened():
        # Nobody reads yet.
        with suppress(OSError):
            os.close(os.open(gates["go"], os.O_WRONLY | os.O_NONBLOCK))
            return True

    until(opened, SECONDS)


def rows(url):
    with psycopg.connect(url) as connection:
        return connection.execute(
            "select kind, minutehand.state(j), attempts from minutehand.jobs j order by run_at, id"
        ).fetchall()


def enqueue(url, *jobs):
    with closing(Database(url)) as database:
        made = enqueue_many((NewJob(**job) for job in jobs), connection=database)
        assert all(item.outcome == "created" for item in made)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal_finishes_the_current_job_and_releases_the_rest(
    execute, popen, database, handlers, gates, number
):
    enqueue(database.url, {"kind": "wait", "payload": gates}, {"kind": "quick"}, {"kind": "quick"})
    worker = popen("work", "--chunk", "3", "--handlers", handlers, url=database.url)
    until_begun(gates)
    assert {state for _, state, _ in rows(database.admin_url)} == {"running"}
    worker.send_signal(number)
    let_go(gates)

    assert worker.wait(180) == 0
    assert rows(database.admin_url) == [("wait", "done", 1), ("quick", "due", 0), ("quick", "due", 0)]
    assert b"Traceback" not in worker.stderr.read()


def test_second_signal_interrupts_and_releases_the_job(popen, direct_database, handlers, gates):
    enqueue(direct_database.url, {"kind": "wait", "payload": gates}, {"kind": "quick"})
    worker = popen("work", "--handlers", handlers, url=direct_database.url)
    until_begun(gates)
    worker.send_signal(signal.SIGTERM)
    worker.send_signal(signal.SIGINT)

    assert worker.wait(180) == 130
    assert rows(direct_database.url) == [("wait", "due", 0), ("quick", "due", 0)]
    assert b"Traceback" not in worker.stderr.read()


@pytest.mark.parametrize("processes", ["1", "2"])
def test_stop_timeout_interrupts_and_releases_the_job(popen, direct_database, handlers, gates, processes):
    enqueue(direct_database.url, {"kind": "wait", "payload": gates})
    options = ("--handlers", handlers, "--processes", processes)
    worker = popen("work", "--stop-timeout", "0s", *options, url=direct_database.url)
    until_begun(gates)
    worker.send_signal(signal.SIGTERM)

    assert worker.wait(180) == 130
    assert rows(direct_database.url) == [("wait", "due", 0)]


def test_job_that_ends_within_the_stop_timeout_is_done(popen, direct_database, handlers, gates):
    enqueue(direct_database.url, {"kind": "wait", "payload": gates}, {"kind": "quick"})
    options = ("--handlers", handlers, "--stop-timeout", "1h")
    worker = popen("work", *options, url=direct_database.url)
    until_begun(gates)
    worker.send_signal(signal.SIGTERM)
    let_go(gates)

    assert worker.wait(180) == 0
    assert rows(direct_database.url) == [("wait", "done", 1), ("quick", "due", 0)]


def test_idle_worker_stops_immediately(popen, direct_database, handlers):
    options = ("--idle", "1h", "--stop-timeout", "1h", "--handlers", handlers)
    worker = popen("work", *options, url=direct_database.url)
    assert worker.stderr.readline().startswith(b"working on all queues;")
    worker.send_signal(signal.SIGTERM)

    assert worker.wait(180) == 0


def test_drain_exits_when_no_job_is_due(run, direct_database):
    enqueue(
        direct_database.url,
        {"kind": "echo", "payload": "x"},
        {"kind": "echo", "delay": timedelta(hours=1)},
        {"kind": "nobody"},
    )
    worked = run("work", "--drain", "-o", "json", url=direct_database.url)
    reported = [json.loads(line) for line in worked.stdout.splitlines()]

    assert worked.returncode == 0
    assert [(each["event"], each["kind"], each["attempt"]) for each in reported] == [
        ("done", "echo", 1),
        ("released", "nobody", 1),
    ]


def test_job_line_never_contains_the_payload(run, direct_database):
    enqueue(direct_database.url, {"kind": "echo", "payload": {"fail": "s3cret"}})
    worked = run("work", "--drain", url=direct_database.url)

    assert b"retried   echo" in worked.stderr
    assert b"RuntimeError" in worked.stderr
    assert b"s3cret" not in worked.stderr + worked.stdout


def test_several_processes_drain_a_queue(run, direct_database):
    enqueue(direct_database.url, *[{"kind": "echo", "payload": n} for n in range(200)])
    worked = run("work", "--processes", "2", "--drain", "--chunk", "5", url=direct_database.url)

    assert worked.returncode == 0
    assert rows(direct_database.url) == [("echo", "done", 1)] * 200


def test_killed_worker_is_restarted(popen, direct_database, handlers):
    crew = popen("work", "--processes", "2", "--handlers", handlers, url=direct_database.url)
    enqueue(direct_database.url, {"kind": "die"})
    assert any(b"killed by SIGKILL; restarting it" in line for line in crew.stderr)
    assert any(b"working on all queues;" in line for line in crew.stderr)
    crew.send_signal(signal.SIGTERM)

    assert crew.wait(180) == 0


def test_workers_exit_with_their_killed_supervisor(popen, direct_database, handlers):
    crew = popen("work", "--processes", "2", "--handlers", handlers, url=direct_database.url)
    for _ in range(2):
        crew.stderr.readline()
    workers = psutil.Process(crew.pid).children()
    crew.kill()
    _, alive = psutil.wait_procs(workers, timeout=180)

    assert len(workers) == 2
    assert alive == []


def test_unreachable_database_sets_the_exit_code_of_all_processes(run):
    ended = run("work", "--processes", "2", url="postgresql://ada:s3cret@127.0.0.1:1/jobs")

    assert ended.returncode == 3
    assert b"s3cret" not in ended.stderr


def test_password_is_not_a_process_argument(popen, direct_database, handlers):
    crew = popen("work", "--processes", "2", "--handlers", handlers, url=direct_database.url)
    crew.stderr.readline()
    arguments = [" ".join(child.cmdline()) for child in psutil.Process(crew.pid).children()]
    crew.send_signal(signal.SIGTERM)

    assert arguments
    assert not [each for each in arguments if "postgresql://" in each]
    assert crew.wait(180) == 0


def test_handlers_enqueue_in_the_database_of_the_command(run, direct_database, handlers):
    follow = "from minutehand import enqueue\ndef handle(payload): enqueue('quick')"
    Path(handlers, "follow.py").write_text(follow)
    run("enqueue", "follow", url=direct_database.url)
    options = ("--drain", "--handlers", handlers, "--database-url", direct_database.url)
    worked = run("work", *options, url="postgresql://127.0.0.1:1/elsewhere")

    assert worked.returncode == 0, worked.stderr
    assert rows(direct_database.url) == [("follow", "done", 1), ("quick", "done", 1)]


def test_project_without_a_folder_of_handlers_runs_its_modules(direct_database, tmp_path):
    (tmp_path / "jobs_of_shop.py").write_text(
        "from minutehand import job\n@job\ndef quick(): return 'by its module'\n"
    )
    (tmp_path / "pyproject.toml").write_text("[tool.minutehand]\nhandlers = ['jobs_of_shop']\n")
    enqueue(direct_database.url, {"kind": "quick"})

    # The script, unlike `python -m`, does not search the working directory for modules.
    command = [sys.executable, "-P", "-c", "from minutehand.cli import main; main()", "work", "--drain"]
    environment = os.environ | {"DATABASE_URL": direct_database.url}
    worked = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, timeout=180)

    assert (worked.returncode, rows(direct_database.url)) == (0, [("quick", "done", 1)]), worked.stderr
