"""Send one request to an address that was checked and read its response, within one time limit."""

import socket
import ssl
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from threading import Timer
from time import monotonic
from typing import Any

from urllib3 import HTTPConnectionPool, HTTPSConnectionPool, Timeout
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import ConnectTimeoutError, HTTPError, NewConnectionError, ReadTimeoutError, SSLError

from minutehand.web.delivery.addresses import Destination

_BODY_LIMIT = 64 * 1024


class Undelivered(Exception):
    """A delivery that failed and may succeed when it is retried."""


@dataclass(frozen=True)
class DeliveryRequest:
    """A request and its destination."""

    method: str
    destination: Destination
    headers: Mapping[str, str] = field(repr=False)
    body: bytes | None = field(repr=False)

    def __str__(self) -> str:
        """Describe the request without anything that may be secret."""
        return f"{self.method} {self.destination.origin}"


@dataclass(frozen=True)
class DeliveryResponse:
    """The response; the body is cut at 64 KiB."""

    request: DeliveryRequest
    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)

    def __str__(self) -> str:
        """Describe the response; error messages begin with this."""
        return f"{self.request} answered {self.status}"


class Deadline:
    """The end of the time limit for all of it: look-up, connections and every byte of the response."""

    def __init__(self, seconds: float) -> None:
        """Begin the time limit now."""
        self.seconds = seconds
        self.passed = False
        self._end = monotonic() + seconds
        self._timer: Timer | None = None

    @property
    def left(self) -> float:
        """The seconds that are left; never zero, which a socket takes for no limit."""
        return max(self._end - monotonic(), 0.001)

    def shut_down_at_end(self, connection: socket.socket) -> None:
        """Shut a connection down at the deadline: a socket's own timeout restarts with every byte."""
        self._timer = Timer(self.left, self._expire, [connection])
        self._timer.daemon = True
        self._timer.start()

    def cancel(self) -> None:
        """Leave the connection open."""
        if self._timer:
            self._timer.cancel()

    def _expire(self, connection: socket.socket) -> None:
        self.passed = True
        with suppress(OSError):
            # Not connection.shutdown, after which TLS would continue in the clear.
            socket.socket.shutdown(connection, socket.SHUT_RDWR)


def exchange(request: DeliveryRequest, addresses: list[str], deadline: Deadline) -> DeliveryResponse:
    """Send the request to the first address that accepts a connection."""
    for tried, address in enumerate(addresses):
        try:
            # Connecting and the TLS handshake may each take this long, so each gets half.
            return _attempt(request, address, deadline, deadline.left / (len(addresses) - tried) / 2)
        except (NewConnectionError, ConnectTimeoutError):
            continue
        except HTTPError as error:
            raise Undelivered(f"{request} failed: {_reason(error, deadline)}") from None
        finally:
            deadline.cancel()
    raise Undelivered(f"{request} failed: the host accepts no connection.")


def _attempt(
    request: DeliveryRequest, address: str, deadline: Deadline, connect_timeout: float
) -> DeliveryResponse:
    with _pool(request.destination, address, deadline) as pool:
        response = pool.urlopen(
            request.method,
            request.destination.target,
            body=request.body,
            headers=dict(request.headers) | {"host": request.destination.authority},
            retries=False,
            redirect=False,
            assert_same_host=False,
            timeout=Timeout(connect=connect_timeout, read=deadline.left),
            preload_content=False,
            enforce_content_length=True,
        )
        body = _read(response.read)
        response.close()
    if deadline.passed:
        raise HTTPError("a response without a length was cut off")
    return DeliveryResponse(request, response.status, response.headers, body)


def _read(read: Callable[..., bytes]) -> bytes:
    body = b""
    # Only an empty read marks the end of the body.
    while len(body) < _BODY_LIMIT and (part := read(_BODY_LIMIT - len(body), decode_content=False)):
        body += part
    return body


def _reason(error: HTTPError, deadline: Deadline) -> str:
    if deadline.passed or isinstance(error, ReadTimeoutError):
        return f"no complete response within {deadline.seconds:.3g} seconds."
    if isinstance(error, SSLError):
        return f"no trusted connection: {error}."
    return "the connection closed before the response was complete."


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
        ssl_context=_ssl_context(),
    )


@cache
def _ssl_context() -> ssl.SSLContext:
    context = ssl.create_default_context()
    # urllib3 checks the name (assert_hostname): before version 2 it cannot delegate that for a bare address.
    context.check_hostname = False
    return context


class _Connection(HTTPConnection):
    def __init__(self, *args: Any, deadline: Deadline, **options: Any) -> None:
        super().__init__(*args, **options)
        self._deadline = deadline

    def connect(self) -> None:
        super().connect()
        self._deadline.shut_down_at_end(self.sock)


class _SecureConnection(_Connection, HTTPSConnection):
    pass


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Connection


class _SecurePool(HTTPSConnectionPool):
    ConnectionCls = _SecureConnection
