"""The servers of one test process: the harness that the product ships, other versions, and PgBouncer in front of it.

MINUTEHAND_TEST_DATABASE_URL    a server to use for `direct-18` instead of the wheel's; its role makes databases
MINUTEHAND_TEST_REQUIRE         what must not be missing, such as pgbouncer,debian; the rest is skipped when it is
"""

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import chown, disk_usage, which
from time import monotonic
from typing import Any, NoReturn
from urllib.parse import urlsplit
from uuid import uuid4

import psutil
import psycopg
import pytest

from minutehand.local.programs import unprivileged_user
from minutehand.testing.databases import Databases, at, database_name
from minutehand.testing.reuse import ReusedDatabase
from minutehand.testing.serving import run_directory, serving, start_server
from tests.ports import free_port
from tests.sessions import SESSIONS

EXTERNAL = os.environ.get("MINUTEHAND_TEST_DATABASE_URL") or None
REQUIRED = frozenset(filter(None, os.environ.get("MINUTEHAND_TEST_REQUIRE", "").split(",")))
DEBIAN = Path("/usr/lib/postgresql")
DIRECT = ("direct-18", "direct-16", "direct-15")
# The number of server connections of each pooler.
POOLS = {"pgbouncer-18": 3, "wide-pgbouncer-18": 20}
SECONDS_TO_ANSWER = 60
# Where the servers store their data, if it has this much space: a copy of a database has 700 files, which a file system
# in memory creates several times as fast as a disk.
MEMORY, SPACE = Path("/dev/shm"), 4 * 2**30

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
# The pooler ends when its input closes, which happens when this process ends.
UNTIL_WE_END = '"$@" & read _; kill $!; wait'


@dataclass(frozen=True)
class Database:
    """A database of a test: the URL to use, and the superuser's URL without a pooler."""

    url: str
    admin_url: str


class Address:
    """A way to reach a server, and the databases on it."""

    def __init__(self, url: str, databases: Databases) -> None:
        """Store the URL that clients use, which may be that of a pooler."""
        self.url, self.admin_url = url, databases.url
        self._databases = databases
        self.reused = ReusedDatabase(databases)

    def make(self, *, migrated: bool = True) -> Database:
        """Create a database: a copy of the template, or an empty one."""
        return self._database(self._databases.make(migrated=migrated))

    def drop(self, database: Database) -> None:
        """Drop a database, even if it is still in use."""
        self._databases.drop(database.admin_url)

    @contextmanager
    def clean(self) -> Iterator[Database]:
        """Yield a database without jobs: that of the process, or through a pooler, a copy."""
        if self.url != self.admin_url:
            database = self.make()
            yield database
            SESSIONS.close()
            return self.drop(database)
        yield self._database(self.reused.url)
        self.reused.reset(keep=SESSIONS.processes())

    def _database(self, url: str) -> Database:
        return Database(at(self.url, database_name(url)), url)


class Servers:
    """The servers of one pytest process. The janitor of the harness ends them after the process."""

    def __init__(self) -> None:
        """Prepare the servers; each starts on first use."""
        self._run = uuid4().hex
        self._open = ExitStack()
        self._addresses: dict[str, Address] = {}
        self.close = self._open.close

    def address(self, name: str) -> Address:
        """Return direct-18, direct-16, direct-15, pgbouncer-18 or wide-pgbouncer-18, and start it if necessary."""
        if name not in self._addresses:
            self._addresses[name] = self._opened(name)
        return self._addresses[name]

    def start(self, name: str, **options: Any) -> str:
        """Start another server with the options of `postgres.start`, and return its URL."""
        return start_server(self.directory(name) / "postgres", **options)

    def migrated(self, name: str, **options: Any) -> Address:
        """Start another server with the options of `postgres.start`, on which databases are migrated."""
        return self._served(name, start=lambda home: start_server(home, **options))

    def directory(self, name: str) -> Path:
        """Return a directory that another user may enter, removed with the server in it."""
        return self._open.enter_context(run_directory(f"{self._run[:12]}-{name}", _memory()))

    def _opened(self, name: str) -> Address:
        if name in POOLS:
            direct = self._served("wheel-18") if EXTERNAL else self.address("direct-18")
            return self._pooled(name, _pgbouncer(), direct)
        if name == "direct-18":
            return self._served(name, EXTERNAL)
        if name == "direct-15":
            return self.migrated(name, binaries=debian())
        return self.migrated(name, version=int(name.rpartition("-")[2]))

    def _served(
        self, name: str, url: str | None = None, start: Callable[[Path], str] | None = None
    ) -> Address:
        run = f"{self._run[:12]}-{name}"
        databases = serving(run, url, lambda url: None, start=start, clock=False, parent=_memory())
        address = Address("", self._open.enter_context(databases))
        address.url = address.admin_url
        self._open.callback(address.reused.discard)
        return address

    def _pooled(self, name: str, program: str, direct: Address) -> Address:
        server = urlsplit(direct.url)
        home = self.directory(name)
        port = free_port()
        (home / "users").write_text(f'"postgres" "{server.password}"\n')
        (home / "ini").write_text(
            PGBOUNCER.format(server=server.port, port=port, home=home, pool=POOLS[name])
        )
        user = unprivileged_user()
        chown(home, user or os.geteuid())
        command = ["sh", "-c", UNTIL_WE_END, "sh", program, "--quiet", str(home / "ini")]
        with (home / "output").open("w") as output:
            pooler = subprocess.Popen(command, cwd=home, user=user, stdin=subprocess.PIPE, stderr=output)
        self._open.callback(pooler.communicate)
        url = server._replace(netloc=f"postgres:{server.password}@127.0.0.1:{port}").geturl()
        _until_it_answers(url, home / "output")
        return Address(url, direct._databases)


def _memory() -> str | None:
    """Return the directory in memory, or None if there is none or too little memory."""
    if not MEMORY.is_dir() or min(disk_usage(MEMORY).free, psutil.virtual_memory().available) < SPACE:
        return None
    return str(MEMORY)


def debian() -> Path:
    """Return the programs of the oldest Postgres that Debian installed."""
    found = sorted(DEBIAN.glob("*/bin/postgres"), key=lambda path: float(path.parts[-3]))
    if not found:
        missing("debian", "Debian's Postgres is not installed: apt-get install postgresql")
    return found[0].parent


def _pgbouncer() -> str:
    return which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin") or missing(
        "pgbouncer", "PgBouncer is not installed: apt-get install pgbouncer"
    )


def missing(name: str, reason: str) -> NoReturn:
    """Skip a test if a requirement is missing, or fail it if the requirement is mandatory."""
    if name in REQUIRED:
        pytest.fail(f"{reason} (MINUTEHAND_TEST_REQUIRE names it)", pytrace=False)
    pytest.skip(reason)


def _until_it_answers(url: str, output: Path) -> None:
    deadline = monotonic() + SECONDS_TO_ANSWER
    while True:
        try:
            with psycopg.connect(url, connect_timeout=SECONDS_TO_ANSWER):
                return
        except psycopg.OperationalError as error:
            if monotonic() > deadline:
                pytest.fail(f"PgBouncer does not answer: {error} {output.read_text()}", pytrace=False)
