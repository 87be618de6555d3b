"""Exit codes and error messages: one line, no traceback, no password."""

import os
import subprocess
import sys

import psycopg
import pytest

from tests.waiting import until

READING = [
    ["ls"],
    ["show", "019c2f6e-8f0a-7c3d-9a51-3f6f0f4f2a10"],
    ["stats"],
    ["defaults"],
    ["tick", "--dry-run"],
]
WRITING = [
    ["enqueue", "echo"],
    ["retry", "019c2f6e-8f0a-7c3d-9a51-3f6f0f4f2a10"],
    ["defaults", "echo", "--priority", "1"],
]
# Imports handlers, which a process can do only from one folder.
WORK = ["work", "--drain"]


UNREACHABLE = "postgresql://ada:s3cret@127.0.0.1:1/jobs"


def sentence(ended, code):
    """Return the one-line message of a failed command."""
    message = ended.stderr.decode().splitlines()
    assert (ended.returncode, ended.stdout, len(message)) == (code, b"", 1), message
    return message[0]


def test_unreachable_database_exits_with_3_without_the_password(run, execute):
    for ended in (
        run(*WORK, url=UNREACHABLE),
        *(execute(*arguments, url=UNREACHABLE) for arguments in (*READING, *WRITING, ["migrate"])),
    ):
        message = sentence(ended, 3)

        assert message.startswith("error: the database cannot be reached: ")
        assert "s3cret" not in message


@pytest.mark.parametrize(
    "url",
    [
        "ada:s3cret@host/jobs",
        "postgresql://ada:p@s3cret@host/jobs",
        "postgresql://ada:s3cret/x@host/jobs",
        "postgresql://ada:p@127.0.0.1:s3cret/jobs",
        "postgresql://ada@host/jobs?s3cret=1",
        "postgresql://ada:%zzs3cret@host/jobs",
    ],
)
def test_invalid_url_is_not_quoted(execute, url):
    message = sentence(execute("ls", url=url), 2)

    assert "percent-encode" in message
    assert "s3cret" not in message


def test_url_of_another_driver_is_rejected_with_its_scheme(execute):
    message = sentence(execute("ls", url="postgresql+psycopg://ada:s3cret@host/jobs"), 2)

    assert message == "error: DATABASE_URL must begin with postgresql://, got postgresql+psycopg://"


def test_refused_connection_says_what_to_check(execute):
    assert "check the host and the port in DATABASE_URL" in sentence(execute("ls", url=UNREACHABLE), 3)


def test_missing_url_says_how_to_set_it(execute):
    found = sentence(execute("ls"), 2)

    assert "DATABASE_URL is not set" in found and found.endswith("in another terminal: minutehand dev")


def test_database_url_is_accepted_before_and_after_the_command(execute, direct_database):
    assert execute("ls", "--database-url", direct_database.url).returncode == 0
    assert execute("--database-url", direct_database.url, "ls").returncode == 0


def test_missing_schema_exits_with_4(run, execute, empty_database):
    for ended in (
        run(*WORK, url=empty_database.url),
        *(
            execute(*arguments, url=empty_database.url)
            for arguments in (*READING, *WRITING, ["delete", "--finished-until", "1d"])
        ),
    ):
        assert "run: minutehand migrate" in sentence(ended, 4)


def test_newer_schema_exits_with_4(execute, direct_database):
    with psycopg.connect(direct_database.url) as connection:
        connection.execute(
            "insert into minutehand.migrations (version, name, checksum) values (9999, 'later', '')"
        )

    for arguments in (["ls"], ["migrate"], ["migrate", "--plan"]):
        assert "newer than this code" in sentence(execute(*arguments, url=direct_database.url), 4)


def test_older_schema_exits_with_4(execute, direct_database):
    with psycopg.connect(direct_database.url) as connection:
        connection.execute(
            "delete from minutehand.migrations where version = (select max(version) from minutehand.migrations)"
        )

    assert "older than this code" in sentence(execute("ls", url=direct_database.url), 4)


def test_read_only_database_can_be_read_and_writes_exit_with_3(execute, direct_database):
    with psycopg.connect(direct_database.url, autocommit=True) as connection:
        connection.execute(
            f'alter database "{connection.info.dbname}" set default_transaction_read_only = on'
        )

    assert execute("ls", url=direct_database.url).returncode == 0
    assert execute("migrate", url=direct_database.url).returncode == 0  # no migration is pending
    for arguments in (["enqueue", "echo"], ["defaults", "echo", "--priority", "1"]):
        assert "is read-only" in sentence(execute(*arguments, url=direct_database.url), 3)


def test_role_without_rights_exits_with_3(execute, direct_database):
    role = f"nobody_{os.getpid()}"
    with psycopg.connect(direct_database.url, autocommit=True) as connection:
        connection.execute(f"create role {role} login password 'x'")
        url = psycopg.conninfo.make_conninfo(direct_database.url, user=role, password="x")
        try:
            assert "may not do this" in sentence(execute("ls", url=url), 3)
        finally:
            connection.execute(f"drop role {role}")


def test_debug_prints_the_traceback(run):
    ended = run("ls", "--debug", url=UNREACHABLE)

    assert ended.returncode == 3
    assert b"Traceback" in ended.stderr


def test_concurrent_migrations_apply_each_once(execute, empty_database, popen):
    plan = execute("migrate", "--plan", url=empty_database.url)
    printed = execute("migrate", "--sql", url=empty_database.url).stdout
    both = [popen("migrate", "-o", "json", url=empty_database.url) for _ in range(2)]
    applied = sorted(len(process.communicate(timeout=180)[0].splitlines()) for process in both)
    listed = execute("migrate", "--status", url=empty_database.url)

    assert b"The tables of the flow" in plan.stdout
    assert [process.returncode for process in both] == [0, 0]
    assert applied == [0, len(plan.stdout.splitlines()) - 1]
    assert len(listed.stdout.splitlines()) == len(plan.stdout.splitlines())
    assert execute("migrate", url=empty_database.url).stderr == b"The schema is up to date.\n"
    assert printed.startswith(b"begin;\n")
    assert printed.endswith(b"\ncommit;\n")
    assert execute("migrate", "--plan", url=empty_database.url).stdout == b""
    assert execute("migrate", "--sql", url=empty_database.url).stdout == b""


def test_broken_pipe_exits_with_141_silently(run, direct_database, popen):
    run("enqueue", "--file", "-", url=direct_database.url, stdin=b'{"kind": "echo"}\n' * 5000)
    listing = popen("ls", "--all", url=direct_database.url)
    first = listing.stdout.readline()
    listing.stdout.close()

    assert first.startswith(b"ID ")
    assert listing.stderr.read() == b""
    assert listing.wait(180) == 141


def test_closed_stdin_is_one_line(direct_database):
    for arguments in ("enqueue echo -", "enqueue --file -", "retry -", "retry"):
        ended = subprocess.run(
            f"exec {sys.executable} -m minutehand {arguments} <&-",
            shell=True,
            capture_output=True,
            timeout=180,
            env=os.environ | {"DATABASE_URL": direct_database.url},
        )
        assert (ended.returncode, len(ended.stderr.splitlines())) == (2, 1), ended.stderr


def test_closed_stdout_does_not_change_the_exit_code(direct_database):
    ended = subprocess.run(
        f"exec {sys.executable} -m minutehand enqueue echo >&-",
        shell=True,
        stderr=subprocess.PIPE,
        timeout=180,
        env=os.environ | {"DATABASE_URL": direct_database.url},
    )

    assert (ended.returncode, ended.stderr) == (0, b"")
    with psycopg.connect(direct_database.url) as connection:
        assert connection.execute("select count(*) from minutehand.jobs").fetchone() == (1,)


def test_ctrl_c_exits_with_130_without_a_traceback(direct_database, popen):
    with psycopg.connect(direct_database.url) as connection:
        connection.execute("lock table minutehand.jobs in access exclusive mode")
        waiting = popen("ls", url=direct_database.url)
        _until_it_waits(direct_database.url)
        waiting.send_signal(2)
        assert waiting.wait(180) == 130

    assert b"Traceback" not in waiting.stderr.read()


def _until_it_waits(url):
    query = "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
    with psycopg.connect(url, autocommit=True) as connection:
        until(lambda: connection.execute(query).fetchone()[0])


def without(module, *arguments):
    """Run the command line without a module."""
    script = f"import sys; sys.modules[{module!r}] = None; from minutehand.cli import main; main()"
    return subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, timeout=180)


@pytest.mark.parametrize(
    ("module", "arguments", "extra", "code"),
    [
        ("click", ["ls"], "minutehand[cli]", 1),
        ("minutehand.local.dev", ["dev"], "minutehand[local]", 2),
        ("minutehand_pipeline", ["pipeline"], "minutehand-pipeline[spark]", 2),
        ("urllib3", ["tick"], "minutehand[aws]", 2),
    ],
)
def test_missing_extra_is_named(monkeypatch, direct_database, module, arguments, extra, code):
    monkeypatch.setenv("DATABASE_URL", direct_database.url)
    monkeypatch.setenv("MINUTEHAND_WORKER", "w")
    message = sentence(without(module, *arguments), code)

    assert f"pip install '{extra}'" in message


def test_completion_works_without_the_extras(monkeypatch):
    monkeypatch.setenv("_MINUTEHAND_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "minutehand ")
    monkeypatch.setenv("COMP_CWORD", "1")
    offered = without("minutehand.local.dev").stdout.decode().split()

    assert "plain,enqueue" in offered
    assert "plain,dev" not in offered
