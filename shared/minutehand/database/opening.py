"""Opening a connection: verified, within its time, with the password that is current, and nothing prepared."""

from collections.abc import Callable
from math import inf
from random import SystemRandom
from time import monotonic, sleep
from typing import Any

import psycopg
from psycopg.types.json import set_json_loads

from minutehand.database.driver_errors import busy, refused_password, translated
from minutehand.database.tls import encrypted, verified_by
from minutehand.errors import ConfigurationError
from minutehand.model.payload import decode
from minutehand.settings import connect_seconds, database_token, forget, iam

Connection = psycopg.Connection[Any]
Parts = dict[str, Any]

# A peer that is gone without a word, as after a freeze, is noticed in seconds; the database is told none of this.
ALIVE = {"keepalives_idle": 5, "keepalives_interval": 2, "keepalives_count": 3, "tcp_user_timeout": 5000}
PAUSE, LONGEST_PAUSE = 0.1, 5.0  # seconds before the second try; then twice as long, and so on
MOST_SECONDS = 2**31
UNSAID_IF_EMPTY = ("sslmode", "sslrootcert", "connect_timeout")  # the driver refuses an empty one


def connect(url: str | Callable[[], str]) -> Connection:
    """Open a connection as every part of minutehand does: autocommit, and nothing prepared.

    `url` may be a function. When the server refuses the password, the secret or token is asked for anew, and what
    that says is tried once.
    """
    with translated():
        connection = _open(url)
    set_json_loads(decode, connection)
    return connection


def conninfo(url: str | Callable[[], str]) -> str:
    """Return what another driver of libpq's needs to open a connection as `connect` does; it has the password in it."""
    with translated():
        return psycopg.conninfo.make_conninfo(**{"application_name": "minutehand"} | _parts(url))


def _open(url: str | Callable[[], str]) -> Connection:
    parts = _parts(url)
    try:
        return _patiently(parts)
    except psycopg.OperationalError as error:
        if not refused_password(error):
            raise
        forget()
        renewed = _parts(url)
        if renewed == parts:
            raise
    return _patiently(renewed)


def _parts(url: str | Callable[[], str]) -> Parts:
    """Return libpq's parameters: what the URL says, and our own where it says nothing."""
    said = read_url(url if isinstance(url, str) else url())
    parts = {"connect_timeout": connect_seconds(), **ALIVE, **said}
    parts |= verified_by(parts)
    return parts | {"password": _token(parts)} if iam() else parts


def read_url(url: str) -> Parts:
    """Return what a URL says; refuse what libpq would misread: its own sentence would quote a part of the password."""
    try:
        parts: Parts = psycopg.conninfo.conninfo_to_dict(url)
    except psycopg.Error:
        parts = {"port": "?"}
    ports = str(parts.get("port") or "5432").split(",")
    if "@" in str(parts.get("host") or "") or not all(port == "" or port.isdigit() for port in ports):
        raise ConfigurationError(
            "DATABASE_URL cannot be read: write postgresql://user:password@host/database, and percent-encode "
            "what is not a letter or digit in the password"
        )
    return {name: said for name, said in parts.items() if said or name not in UNSAID_IF_EMPTY}


def _token(parts: Parts) -> str:
    """Return the token that RDS takes as password."""
    if parts.get("password"):
        raise ConfigurationError(
            "MINUTEHAND_DATABASE_IAM is set, and the URL has a password: leave one of them out"
        )
    if not parts.get("user") or not parts.get("host") or "," in parts["host"]:
        raise ConfigurationError("MINUTEHAND_DATABASE_IAM needs the user and the one host in the URL")
    if not encrypted(parts):
        raise ConfigurationError(
            "MINUTEHAND_DATABASE_IAM needs TLS: set MINUTEHAND_DATABASE_TLS, or sslmode=require"
        )
    return database_token(parts["host"], int(parts.get("port") or 5432), parts["user"])


def _patiently(parts: Parts) -> Connection:
    """Open it, again and again while the server has no connection to spare yet, as long as the time is not over."""
    pause, deadline = PAUSE, monotonic() + _seconds(parts)
    while True:
        try:
            return _attempt(parts, deadline - monotonic())
        except psycopg.OperationalError as error:
            pause = min(SystemRandom().uniform(pause, 2 * pause), LONGEST_PAUSE)  # not everybody at once
            if not busy(error) or monotonic() + pause > deadline:
                raise
        sleep(pause)


def _attempt(parts: Parts, seconds: float) -> Connection:
    limit = 0 if seconds == inf else max(1, round(seconds))
    own = {"application_name": "minutehand", "connect_timeout": limit}
    return psycopg.connect(autocommit=True, prepare_threshold=None, **parts | own)


def _seconds(parts: Parts) -> float:
    """Return how long opening may take; 0 is no limit, as libpq has it."""
    try:
        seconds = float(parts["connect_timeout"])
    except ValueError:
        seconds = inf
    if not abs(seconds) < MOST_SECONDS:  # neither inf nor nan is less
        raise ConfigurationError("connect_timeout in DATABASE_URL is not a number of seconds")
    return seconds if seconds > 0 else inf
