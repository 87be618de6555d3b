"""Start real servers when a test first needs them: Postgres of three versions, and PgBouncer before the newest.

MINUTEHAND_TEST_DATABASE_URL    a server to use for `direct-18` instead of the wheel's; its role makes databases
MINUTEHAND_TEST_REQUIRE         what must not be missing, such as pgbouncer,debian; the rest is skipped when it is
"""

import os
import socket
import subprocess
import sys
import tempfile
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from shutil import chown, which
from time import monotonic
from typing import IO, NoReturn, cast
from urllib.parse import urlsplit
from uuid import uuid4

import psycopg
import pytest

import minutehand
from minutehand.local import postgres
from minutehand.local.programs import unprivileged_user
from minutehand.schema.migrate import migrate

EXTERNAL = os.environ.get("MINUTEHAND_TEST_DATABASE_URL", "")
REQUIRED = frozenset(filter(None, os.environ.get("MINUTEHAND_TEST_REQUIRE", "").split(",")))
DEBIAN = Path("/usr/lib/postgresql")
POOLS = {"pgbouncer-18": 3, "wide-pgbouncer-18": 20}  # how many server connections each pooler has
SECONDS_TO_ANSWER = 15

# Without autovacuum nothing happens behind a test's back; nothing here has to survive a crash.
SETTINGS = {
    "autovacuum": "off", "full_page_writes": "off", "synchronous_commit": "off",
    "wal_level": "minimal", "max_wal_senders": "0", "checkpoint_timeout": "1h", "max_wal_size": "4GB",
}  # fmt: skip
PGBOUNCER = """\
[databases]
* = host=127.0.0.1 port={server}

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = {home}/users
auth_user = postgres
pool_mode = transaction
default_pool_size = {pool}
max_client_conn = 500
logfile = {home}/log
"""


@dataclass(frozen=True)
class Database:
    """A database of a test's own: the address to use, and the one that goes straight to the server."""

    url: str
    admin_url: str


@dataclass(frozen=True)
class Address:
    """How clients reach a server, and the template that a test's database is copied from."""

    url: str
    admin_url: str
    template: str

    def make(self, *, migrated: bool = True) -> Database:
        """Make a database: a copy of the template, or one with nothing in it."""
        name = f"test_{uuid4().hex[:12]}"
        source = self.template if migrated else "template0"
        _execute(self.admin_url, f"create database {name} template {source} strategy file_copy")
        return Database(_at(self.url, name), _at(self.admin_url, name))

    def drop(self, database: Database) -> None:
        """Drop a database, whoever still uses it."""
        _execute(self.admin_url, f"drop database {urlsplit(database.admin_url).path[1:]} with (force)")


class Servers:
    """The servers of one pytest process; another process, the janitor, ends them when this one is gone."""

    def __init__(self) -> None:
        self._home = Path(tempfile.mkdtemp(prefix="minutehand-tests-")).resolve()
        self._home.chmod(0o755)
        janitor = [sys.executable, str(Path(__file__).with_name("janitor.py")), str(self._home)]
        self._janitor = subprocess.Popen(janitor, stdin=subprocess.PIPE, start_new_session=True)
        self._poolers: list[subprocess.Popen[bytes]] = []
        self._addresses: dict[str, Address] = {}

    def address(self, name: str) -> Address:
        """Return direct-18, direct-16, direct-15, pgbouncer-18 or wide-pgbouncer-18, starting what it needs."""
        if name not in self._addresses:
            self._addresses[name] = self._open(name)
        return self._addresses[name]

    def close(self) -> None:
        """End every server and wait until nothing of them is left."""
        if EXTERNAL and "direct-18" in self._addresses:
            _execute(EXTERNAL, f"drop database {self._addresses['direct-18'].template} with (force)")
        cast(IO[bytes], self._janitor.stdin).close()
        for process in [*self._poolers, self._janitor]:
            process.wait()

    def _open(self, name: str) -> Address:
        if name in POOLS:
            return self._pooled(name, _pgbouncer(), self.address("wheel-18"))
        if name == "direct-18":
            return _migrated(EXTERNAL) if EXTERNAL else self.address("wheel-18")
        if name == "direct-15":
            return _migrated(self._start(name, binaries=_debian()))
        return _migrated(self._start(name, version=int(name.rpartition("-")[2])))

    def _start(self, name: str, version: int = 18, binaries: Path | None = None) -> str:
        return postgres.start(
            self._home / name, version=version, binaries=binaries, fsync=False, settings=SETTINGS
        ).url

    def _pooled(self, name: str, program: str, direct: Address) -> Address:
        server = urlsplit(direct.url)
        home = self._home / name
        home.mkdir()
        port = _free_port()
        (home / "users").write_text(f'"postgres" "{server.password}"\n')
        (home / "ini").write_text(
            PGBOUNCER.format(server=server.port, port=port, home=home, pool=POOLS[name])
        )
        user = unprivileged_user()
        chown(home, user or os.geteuid())
        with (home / "output").open("w") as output:
            command = [program, "--quiet", str(home / "ini")]
            self._poolers.append(
                subprocess.Popen(command, cwd=home, user=user, stdin=subprocess.DEVNULL, stderr=output)
            )
        url = server._replace(netloc=f"postgres:{server.password}@127.0.0.1:{port}").geturl()
        _until_it_answers(url, home / "output")
        return Address(url, direct.admin_url, direct.template)


def _migrated(url: str) -> Address:
    template = f"minutehand_template_{uuid4().hex[:12]}"
    _execute(url, f"create database {template}")
    with closing(minutehand.Database(_at(url, template))) as database:
        migrate(database)
    _execute(url, f"alter database {template} allow_connections false")
    return Address(url, url, template)


def _debian() -> Path:
    found = sorted(DEBIAN.glob("*/bin/postgres"), key=lambda path: float(path.parts[-3]))
    if not found:
        missing("debian", "Debian's Postgres is not installed: apt-get install postgresql")
    return found[0].parent


def _pgbouncer() -> str:
    return which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin") or missing(
        "pgbouncer", "PgBouncer is not installed: apt-get install pgbouncer"
    )


def missing(name: str, reason: str) -> NoReturn:
    """Skip a test for what this machine lacks, or fail it where that must not be missing."""
    if name in REQUIRED:
        pytest.fail(f"{reason} (MINUTEHAND_TEST_REQUIRE names it)", pytrace=False)
    pytest.skip(reason)


def _execute(url: str, statement: str) -> None:
    with psycopg.connect(url, autocommit=True, connect_timeout=SECONDS_TO_ANSWER) as connection:
        connection.execute(statement)


def _at(url: str, database: str) -> str:
    return urlsplit(url)._replace(path=f"/{database}").geturl()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _until_it_answers(url: str, output: Path) -> None:
    deadline = monotonic() + SECONDS_TO_ANSWER
    while True:
        try:
            return _execute(url, "select 1")
        except psycopg.OperationalError as error:
            if monotonic() > deadline:
                pytest.fail(f"PgBouncer does not answer: {error} {output.read_text()}", pytrace=False)
