"""Postgres: start a server that comes in a wheel, with its data in a directory.

<directory>/data        the data; a link to /var/lib/minutehand if the directory of root is private
<directory>/password    the password of the only role, readable only by its owner
<directory>/port        the last port, so that the address survives a restart
"""

import os
import shlex
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fcntl import LOCK_EX, flock
from pathlib import Path
from secrets import randbelow
from subprocess import CompletedProcess

import psutil

from minutehand.local.data import check_data, make_data
from minutehand.local.errors import (
    AlreadyRunningError,
    LocalError,
    NoPasswordError,
    NoPostgresError,
    OtherVersionError,
    PortInUseError,
    StartError,
)
from minutehand.local.programs import from_the_wheel, run, runnable, unprivileged_user

__all__ = [
    "AlreadyRunningError",
    "LocalError",
    "NoPasswordError",
    "NoPostgresError",
    "OtherVersionError",
    "PortInUseError",
    "Server",
    "StartError",
    "start",
    "stop",
]

HOST = "127.0.0.1"
SETTINGS = {"shared_buffers": "32MB", "timezone": "UTC", "log_timezone": "UTC"}
LONGEST_SOCKET_DIRECTORY = 85
START_SECONDS = "60"
# Below those that the system gives to connections: one of these could have the port when the server starts again.
LOWEST_PORT, PORTS = 20_000, 12_000
SECONDS_TO_DIE = 3
# Postgres logs this and starts with its other addresses.
UNBOUND = "could not bind IPv4 address"


@dataclass(frozen=True)
class Server:
    """A running server."""

    url: str
    port: int
    directory: Path
    binaries: Path

    def stop(self) -> None:
        """Stop the server and close its connections; do nothing if it is stopped."""
        stop(self.directory, binaries=self.binaries)


def start(
    directory: Path,
    *,
    version: int = 18,
    binaries: Path | None = None,
    port: int | None = None,
    fsync: bool = True,
    settings: Mapping[str, str] | None = None,
) -> Server:
    """Start the server of a directory on the loopback; the first start creates the data.

    `binaries` is an installation to use instead of the wheel. The default of `port` is the last port, or a free one.
    `fsync=False` is faster, but loses data if the machine crashes; it does not if only the server crashes.
    """
    directory.mkdir(parents=True, exist_ok=True)
    cluster = _Cluster(directory.resolve(), binaries or from_the_wheel(version), unprivileged_user())
    with _locked(directory):
        cluster.check()
        make_data(cluster.home, cluster.binaries, cluster.user)
        return cluster.start(port, {**SETTINGS, "fsync": "on" if fsync else "off", **(settings or {})})


def stop(directory: Path, *, version: int = 18, binaries: Path | None = None) -> None:
    """Stop the server of a directory, even if another process started it."""
    _Cluster(directory.resolve(), binaries or from_the_wheel(version), unprivileged_user()).stop()


@dataclass(frozen=True)
class _Cluster:
    home: Path
    binaries: Path
    user: str | None

    @property
    def data(self) -> Path:
        return (self.home / "data").resolve()

    @property
    def log(self) -> Path:
        return self.data / "server.log"

    def check(self) -> None:
        if server := self.running():
            psutil.wait_procs([server], SECONDS_TO_DIE)
        if server := self.running():
            raise AlreadyRunningError(
                f"Postgres is already running on {self.home}; use it, or end it with: kill -INT {server.pid}"
            )
        self.clean_up()
        check_data(self.home, self.binaries)

    def start(self, port: int | None, settings: Mapping[str, str]) -> Server:
        if port and not _free(port):
            raise PortInUseError(
                f"port {port} is in use; choose another, or end the process that listens on it"
            )
        chosen = port or self.last_port() or _any_port()
        failure = self.start_on(chosen, settings)
        if failure and not port and (UNBOUND in failure or not _free(chosen)):
            # Another process has taken the port in the meantime.
            chosen = _any_port()
            failure = self.start_on(chosen, settings)
        if failure:
            raise StartError(f"Postgres did not start: {failure} (see {self.log})")
        (self.home / "port").write_text(str(chosen))
        url = f"postgresql://postgres:{(self.home / 'password').read_text()}@{HOST}:{chosen}/postgres"
        return Server(url, chosen, self.home, self.binaries)

    def start_on(self, port: int, settings: Mapping[str, str]) -> str:
        self.log.unlink(missing_ok=True)
        options = self.options({"listen_addresses": HOST, "port": str(port), **settings})
        started = self.pg_ctl("start", "-l", self.log, "-o", options)
        lines = self.log.read_text(errors="replace").splitlines() if self.log.exists() else []
        unbound = next((line for line in lines if UNBOUND in line), "")
        if unbound and not self.listens(port):
            self.stop()
            return unbound.partition("LOG:")[2].strip()
        if started.returncode == 0:
            return ""
        return next((line for line in reversed(lines) if "FATAL" in line), started.stderr.strip())

    def listens(self, port: int) -> bool:
        """Whether the server listens on the address of the URL."""
        server = self.running()
        found = server.net_connections("tcp4") if server else []
        return any(each.laddr.port == port and each.laddr.ip in (HOST, "0.0.0.0") for each in found)

    def last_port(self) -> int | None:
        file = self.home / "port"
        port = int(file.read_text()) if file.exists() else None
        return port if port and _free(port) else None

    def options(self, settings: Mapping[str, str]) -> str:
        fits = len(os.fsencode(self.data)) <= LONGEST_SOCKET_DIRECTORY
        settings = {"unix_socket_directories": f'"{self.data}"' if fits else "", **settings}
        return " ".join(f"-c {shlex.quote(f'{name}={value}')}" for name, value in settings.items())

    def stop(self) -> None:
        if self.running():
            self.pg_ctl("stop", "-m", "fast")
        self.clean_up()

    def pg_ctl(self, verb: str, *options: str | Path) -> CompletedProcess[str]:
        program = runnable(self.binaries, self.user) / "pg_ctl"
        return run([program, verb, "-D", self.data, "-w", "-t", START_SECONDS, *options], self.user)

    def running(self) -> psutil.Process | None:
        """Return the server's process; the pid in an old file may belong to another process."""
        try:
            pid = int((self.data / "postmaster.pid").read_text().split()[0])
        except (FileNotFoundError, IndexError):
            return None
        return next((process for process in self.processes() if process.pid == pid), None)

    def processes(self) -> list[psutil.Process]:
        data = str(self.data)
        return [process for process in psutil.process_iter() if _serves(process, data)]

    def clean_up(self) -> None:
        """Remove what a killed server left behind: its busy children, and its lock files.

        Idle children exit by themselves. Postgres takes a zombie process for a running server, so the lock files have
        to be removed.
        """
        _, busy = psutil.wait_procs(self.processes(), SECONDS_TO_DIE)
        for process in busy:
            process.kill()
        psutil.wait_procs(busy, SECONDS_TO_DIE)
        for left in [self.data / "postmaster.pid", *self.data.glob(".s.PGSQL.*")]:
            left.unlink(missing_ok=True)


def _serves(process: psutil.Process, data: str) -> bool:
    try:
        return "postgres" in process.name() and process.cwd() == data
    except psutil.Error:
        return False


@contextmanager
def _locked(directory: Path) -> Iterator[None]:
    with (directory / "lock").open("w") as lock:
        flock(lock, LOCK_EX)
        yield


def _free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
        return True


def _any_port() -> int:
    while not _free(port := LOWEST_PORT + randbelow(PORTS)):
        pass
    return port
