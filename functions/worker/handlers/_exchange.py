"""Send one request to the very address that was checked, and read one answer, all within one time limit."""

import socket
import ssl
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from threading import Timer
from time import monotonic
from typing import Any

from urllib3 import HTTPConnectionPool, HTTPSConnectionPool, Timeout
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import ConnectTimeoutError, HTTPError, NewConnectionError, ReadTimeoutError, SSLError

from ._addresses import Destination

_MOST = 64 * 1024


class Undelivered(Exception):
    """A delivery that did not succeed this time."""


@dataclass(frozen=True)
class Request:
    """What is sent, and where."""

    method: str
    destination: Destination
    headers: Mapping[str, str]
    body: bytes | None

    def __str__(self) -> str:
        """Name the request without what may be secret."""
        return f"{self.method} {self.destination.origin}"


@dataclass(frozen=True)
class Answer:
    """What came back; of the body no more than 64 KiB."""

    request: Request
    status: int
    headers: Mapping[str, str]
    body: bytes

    def __str__(self) -> str:
        """Begin a sentence about it."""
        return f"{self.request} answered {self.status}"


class Deadline:
    """The moment by which everything is over: the look-up, every connection, every byte of the answer."""

    def __init__(self, seconds: float) -> None:
        """Allow this much time from now."""
        self.seconds = seconds
        self.passed = False
        self._end = monotonic() + seconds
        self._timer: Timer | None = None

    @property
    def left(self) -> float:
        """The seconds that are left; never zero, which a socket would take for no limit."""
        return max(self._end - monotonic(), 0.001)

    def cut(self, connection: socket.socket) -> None:
        """End a connection at the deadline: a socket's own limit starts anew with every byte it receives."""
        self._timer = Timer(self.left, self._pass, [connection])
        self._timer.daemon = True
        self._timer.start()

    def spare(self) -> None:
        """Leave the connection alone."""
        if self._timer:
            self._timer.cancel()

    def _pass(self, connection: socket.socket) -> None:
        self.passed = True
        with suppress(OSError):
            # Not connection.shutdown, by which TLS would go on in clear.
            socket.socket.shutdown(connection, socket.SHUT_RDWR)


def exchange(request: Request, addresses: list[str], deadline: Deadline) -> Answer:
    """Send the request to the first of these addresses that takes a connection."""
    for tried, address in enumerate(addresses):
        try:
            # Half for the connection and half for its TLS, each of which may take this long.
            return _attempt(request, address, deadline, deadline.left / (len(addresses) - tried) / 2)
        except (NewConnectionError, ConnectTimeoutError):
            continue
        except HTTPError as fault:
            raise Undelivered(f"{request} failed: {_sentence(fault, deadline)}") from None
        finally:
            deadline.spare()
    raise Undelivered(f"{request} failed: the host takes no connection.")


def _attempt(request: Request, address: str, deadline: Deadline, patience: float) -> Answer:
    with _pool(request.destination, address, deadline) as pool:
        response = pool.urlopen(
            request.method,
            request.destination.target,
            body=request.body,
            headers=dict(request.headers) | {"host": request.destination.authority},
            retries=False,
            redirect=False,
            assert_same_host=False,
            timeout=Timeout(connect=patience, read=deadline.left),
            preload_content=False,
            enforce_content_length=True,
        )
        body = _read(response.read)
        response.close()
    if deadline.passed:
        raise HTTPError("an answer without a length was cut off")
    return Answer(request, response.status, response.headers, body)


def _read(read: Callable[..., bytes]) -> bytes:
    body = b""
    # Only a read that returns nothing tells an end from a break.
    while len(body) < _MOST and (part := read(_MOST - len(body), decode_content=False)):
        body += part
    return body


def _sentence(fault: HTTPError, deadline: Deadline) -> str:
    if deadline.passed or isinstance(fault, ReadTimeoutError):
        return f"no complete answer within {deadline.seconds:.3g} seconds."
    if isinstance(fault, SSLError):
        return f"no trusted connection: {fault}."
    return "the connection broke off before the answer was complete."


def _pool(destination: Destination, address: str, deadline: Deadline) -> HTTPConnectionPool:
    if destination.scheme == "http":
        return _Pool(address, destination.port, deadline=deadline)
    host = destination.host
    return _SecurePool(
        address,
        destination.port,
        deadline=deadline,
        server_hostname=host,
        assert_hostname=host,
        ssl_context=_trust(),
    )


@cache
def _trust() -> ssl.SSLContext:
    context = ssl.create_default_context()
    # urllib3 compares the names, by assert_hostname: its versions before 2 cannot have it done for a bare address.
    context.check_hostname = False
    return context


class _Connection(HTTPConnection):
    def __init__(self, *args: Any, deadline: Deadline, **options: Any) -> None:
        super().__init__(*args, **options)
        self._deadline = deadline

    def connect(self) -> None:
        super().connect()
        self._deadline.cut(self.sock)


class _SecureConnection(_Connection, HTTPSConnection):
    pass


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Connection


class _SecurePool(HTTPSConnectionPool):
    ConnectionCls = _SecureConnection
