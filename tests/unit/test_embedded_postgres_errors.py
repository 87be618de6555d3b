"""Errors of the embedded Postgres: ports, versions, passwords and foreign files."""

import socket
import stat
from pathlib import Path

import psycopg
import pytest

from minutehand.local import postgres, programs
from tests.ports import free_port
from tests.unit.embedded import Start, execute, working_in


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
    port = free_port()
    with socket.create_server(("127.0.0.1", port)), pytest.raises(postgres.PortInUseError) as refused:
        start(port=port)

    expected = f"port {port} is in use; choose another, or end the process that listens on it"
    assert str(refused.value) == expected
    assert start(port=port).port == port


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
