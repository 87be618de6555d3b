"""The server of a benchmark: a new one that is removed afterwards, or that of DATABASE_URL."""

import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from urllib.parse import quote, urlencode

import psycopg

from minutehand.local import postgres
from minutehand.schema.migrate import migrate
from minutehand.settings.table import DATABASE_URL

DATABASE = "minutehand_bench"
SETTINGS = {"shared_buffers": "256MB", "max_wal_size": "4GB"}


@contextmanager
def server() -> Iterator[str]:
    """Yield the address of a server. A new one is stopped and its data removed, also after Ctrl-C and SIGTERM."""
    signal.signal(signal.SIGTERM, _end)
    if url := DATABASE_URL.read():
        try:
            yield url
        finally:
            _drop_all(url)
        return
    with tempfile.TemporaryDirectory(prefix="minutehand-bench-") as directory:
        started = postgres.start(Path(directory), settings=SETTINGS)
        try:
            yield started.url
        finally:
            started.stop()


@contextmanager
def database() -> Iterator[str]:
    """Yield the address of a new database with our schema."""
    with server() as url:
        yield migrated(url)


def migrated(url: str) -> str:
    """Replace the database of the benchmarks by an empty one with our schema, and return its address."""
    address = fresh(url)
    migrate(address)
    return address


def fresh(url: str, name: str = DATABASE, template: str = "template1") -> str:
    """Replace a database by a copy of the template, which is empty by default, and return its address."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f'drop database if exists "{name}" with (force)'.encode())
        connection.execute(f'create database "{name}" template "{template}"'.encode())
    parts = {key: str(value) for key, value in psycopg.conninfo.conninfo_to_dict(url).items()}
    return _url(**{**parts, "dbname": name})


def _drop_all(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        names = connection.execute(
            "select datname from pg_database where starts_with(datname, %s)", (DATABASE,)
        )
        for (name,) in names.fetchall():
            connection.execute(f'drop database "{name}" with (force)'.encode())


def _url(
    dbname: str, host: str = "", port: str = "", user: str = "", password: str = "", **others: str
) -> str:
    """Return a URL, because drivers for Node do not read other forms."""
    login = quote(user, safe="") + (f":{quote(password, safe='')}" if password else "")
    # A folder of sockets as a host needs quoting too.
    place = quote(host, safe="") + (f":{port}" if port else "")
    query = f"?{urlencode(others)}" if others else ""
    return f"postgresql://{login}{'@' if login else ''}{place}/{dbname}{query}"


def _end(signum: int, frame: FrameType | None) -> None:
    sys.exit(128 + signum)
