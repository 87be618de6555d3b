"""Open a connection: with TLS checks, a time limit and the current password."""

import re
from collections.abc import Callable, Coroutine
from math import inf
from random import SystemRandom
from time import monotonic, sleep
from typing import Any, Generic, TypeVar

import psycopg
from psycopg.types.json import set_json_loads

from minutehand.database.completing import complete
from minutehand.database.driver_errors import busy, refused_password, translated
from minutehand.database.tls import is_encrypted, verified_by
from minutehand.errors import ConfigurationError
from minutehand.model.payload import decode
from minutehand.settings import connect_seconds, database_token, database_url, forget, iam

Connection = psycopg.Connection[Any]
AsyncConnection = psycopg.AsyncConnection[Any]
Parts = dict[str, Any]
AnyConnection = TypeVar("AnyConnection")

# These find a silent peer within seconds, as after a frozen process. They are client settings only.
KEEPALIVE = {"keepalives_idle": 5, "keepalives_interval": 2, "keepalives_count": 3, "tcp_user_timeout": 5000}
# Seconds before the second try; each further pause is up to twice as long.
PAUSE, LONGEST_PAUSE = 0.1, 5.0
MAX_SECONDS = 2**31
# At the beginning of a URL; contains no secret.
SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
# Parameters that the driver refuses when they are empty.
DROPPED_IF_EMPTY = ("sslmode", "sslrootcert", "connect_timeout")


def connect(url: str | Callable[[], str]) -> Connection:
    """Open a connection in autocommit mode, without prepared statements.

    `url` may be a function. If the server refuses the password, the secret or token is fetched again and tried once.
    """
    with translated():
        connection = complete(open_connection(url, _BLOCKING))
    set_json_loads(decode, connection)
    return connection


def conninfo(url: str | Callable[[], str] = database_url) -> str:
    """Return a connection string for other libpq drivers, equivalent to `connect`. It contains the password.

    By default it is that of the environment: DATABASE_URL, or the secret in MINUTEHAND_DATABASE_SECRET.
    """
    with translated():
        return psycopg.conninfo.make_conninfo(**{"application_name": "minutehand"} | _parts(url))


class Dial(Generic[AnyConnection]):
    """How to connect, to pause, and to call a function that may block: without suspending, or in an event loop."""

    # Not a dataclass, which would take half a millisecond of each cold start.
    def __init__(
        self,
        connect: Callable[[Parts], Coroutine[Any, Any, AnyConnection]],
        pause: Callable[[float], Coroutine[Any, Any, None]],
        block: Callable[[Callable[[], Parts]], Coroutine[Any, Any, Parts]],
    ) -> None:
        """Store the three."""
        self.connect, self.pause, self.block = connect, pause, block


async def open_connection(url: str | Callable[[], str], dial: Dial[AnyConnection]) -> AnyConnection:
    """Open a connection. If the server refuses the password, fetch the secret or token again and try once."""
    parts = await dial.block(lambda: _parts(url))
    try:
        return await _connect_with_retries(parts, dial)
    except psycopg.OperationalError as error:
        if not refused_password(error):
            raise
        forget()
        renewed = await dial.block(lambda: _parts(url))
        if renewed == parts:
            raise
    return await _connect_with_retries(renewed, dial)


def _parts(url: str | Callable[[], str]) -> Parts:
    """Return libpq's parameters: those of the URL, and our defaults for the others."""
    given = read_url(url if isinstance(url, str) else url())
    parts = {"connect_timeout": connect_seconds(), **KEEPALIVE, **given}
    parts |= verified_by(parts)
    return parts | {"password": _token(parts)} if iam() else parts


def read_url(url: str) -> Parts:
    """Return the parameters of a URL. Reject what libpq would misread, since its error would quote the password."""
    scheme = SCHEME.match(url)
    if scheme and scheme[1] not in ("postgresql", "postgres"):
        raise ConfigurationError(f"DATABASE_URL must begin with postgresql://, got {scheme[0]}")
    try:
        parts: Parts = psycopg.conninfo.conninfo_to_dict(url)
    except psycopg.Error:
        parts = {"port": "?"}
    ports = str(parts.get("port") or "5432").split(",")
    if "@" in str(parts.get("host") or "") or not all(port == "" or port.isdigit() for port in ports):
        raise ConfigurationError(
            "DATABASE_URL must have the form postgresql://user:password@host/database; percent-encode every character "
            "of the password except letters and digits"
        )
    return {name: value for name, value in parts.items() if value or name not in DROPPED_IF_EMPTY}


def _token(parts: Parts) -> str:
    """Return the token that RDS accepts as a password."""
    if parts.get("password"):
        raise ConfigurationError(
            "MINUTEHAND_DATABASE_IAM replaces the password; remove the password from the URL, or unset the variable"
        )
    if not parts.get("user") or not parts.get("host") or "," in parts["host"]:
        raise ConfigurationError(
            "with MINUTEHAND_DATABASE_IAM, the URL must have a user and exactly one host"
        )
    if not is_encrypted(parts):
        raise ConfigurationError(
            "MINUTEHAND_DATABASE_IAM needs TLS; set MINUTEHAND_DATABASE_TLS, or sslmode=require in the URL"
        )
    return database_token(parts["host"], int(parts.get("port") or 5432), parts["user"])


async def _connect_with_retries(parts: Parts, dial: Dial[AnyConnection]) -> AnyConnection:
    """Connect, and try again while the server has no free connection, within `connect_timeout`."""
    pause, deadline = PAUSE, monotonic() + _seconds(parts)
    while True:
        try:
            return await dial.connect(_attempt(parts, deadline - monotonic()))
        except psycopg.OperationalError as error:
            # A random pause spreads the clients.
            pause = min(SystemRandom().uniform(pause, 2 * pause), LONGEST_PAUSE)
            if not busy(error) or monotonic() + pause > deadline:
                raise
        await dial.pause(pause)


def _attempt(parts: Parts, seconds: float) -> Parts:
    """Return the parameters of one attempt: autocommit mode, without prepared statements."""
    limit = 0 if seconds == inf else max(1, round(seconds))
    ours = {"application_name": "minutehand", "connect_timeout": limit}
    return parts | ours | {"autocommit": True, "prepare_threshold": None}


def _seconds(parts: Parts) -> float:
    """Return the time limit for connecting; 0 means no limit, as in libpq."""
    try:
        seconds = float(parts["connect_timeout"])
    except ValueError:
        seconds = inf
    # Written so that inf and nan are refused, too.
    if not abs(seconds) < MAX_SECONDS:
        raise ConfigurationError("connect_timeout in DATABASE_URL must be a number of seconds")
    return seconds if seconds > 0 else inf


async def _connect(parts: Parts) -> Connection:
    return psycopg.connect(**parts)


async def _pause(seconds: float) -> None:
    sleep(seconds)


async def _block(call: Callable[[], Parts]) -> Parts:
    return call()


_BLOCKING = Dial(_connect, _pause, _block)
