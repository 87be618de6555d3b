"""Receiver: a small HTTP server on the loopback for the deliveries of local runs and tests."""

import hashlib
import hmac
import json
import sys
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread
from typing import Any, Self
from urllib.parse import parse_qsl, urlsplit

from minutehand.model.encoding import from_base64, to_base64

_LARGEST = 1024 * 1024
_TOLERANCE = timedelta(minutes=5)
_LONGEST_WAIT = 60


@dataclass(frozen=True)
class Received:
    """A delivery and the status of its response; header names are in lower case."""

    at: datetime
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes
    verified: bool
    status: int

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


class Receiver:
    """A receiver on 127.0.0.1, on a given port or a free one; the path of a delivery determines the response.

    /ok               200
    /flaky?fail=2     503 for the first two attempts of each job, then 200; Retry-After is 1, or the value of `after`,
                      and is not sent with after=0
    /broken           500, always
    /gone             410
    /slow?seconds=3   200 after this time, limited to a minute

    With a secret, unsigned deliveries get 401. The latest deliveries, up to `keep`, are stored in `received`.
    `on_delivery` is called for each before the response.
    """

    def __init__(
        self,
        secret: str | None = None,
        port: int = 0,
        keep: int = 1000,
        on_delivery: Callable[[Received], None] | None = None,
    ) -> None:
        """Open nothing; `start` or `with` opens the port."""
        self._secret = secret
        self._port = port
        self._on_delivery = on_delivery
        self._received: deque[Received] = deque(maxlen=keep)
        self._attempts = _Attempts()
        self._stopping = Event()
        self._server: _Server | None = None

    def __enter__(self) -> Self:
        """Start."""
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop."""
        self.stop()

    @property
    def url(self) -> str:
        """The base URL, without a slash at the end."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def received(self) -> list[Received]:
        """The latest deliveries, oldest first."""
        return list(self._received)

    def start(self) -> None:
        """Listen in a thread."""
        self._stopping.clear()
        self._server = _Server(("127.0.0.1", self._port), self)
        self._port = self._server.server_port
        Thread(target=self._server.serve_forever, args=[0.05], daemon=True).start()

    def stop(self) -> None:
        """Answer slow deliveries immediately and close the port."""
        self._stopping.set()
        if self._server:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def respond(self, method: str, target: str, headers: dict[str, str], body: bytes) -> "Response":
        """Verify a delivery, store it and return the response."""
        url = urlsplit(target)
        query = dict(parse_qsl(url.query))
        now = datetime.now(UTC)
        verified = self._secret is not None and is_signed(self._secret, headers, body, now)
        refused = self._secret is not None and not verified
        response = (
            Response(401, "not signed with the secret") if refused else self._behave(url.path, query, headers)
        )
        received = Received(now, method, url.path, query, headers, body, verified, response.status)
        self._received.append(received)
        if self._on_delivery:
            self._on_delivery(received)
        self._stopping.wait(response.delay)
        return response

    def _behave(self, path: str, query: dict[str, str], headers: dict[str, str]) -> "Response":
        match path:
            case "/ok":
                return Response(200, "received")
            case "/flaky" if self._attempts.count(headers.get("webhook-id", "")) > _number(query, "fail"):
                return Response(200, "received")
            case "/flaky":
                after = _number(query, "after")
                return Response(503, "not yet", {"retry-after": str(after)} if after else {})
            case "/broken":
                return Response(500, "broken")
            case "/gone":
                return Response(410, "gone")
            case "/slow":
                return Response(200, "received", delay=min(_number(query, "seconds"), _LONGEST_WAIT))
        return Response(404, "the paths are /ok, /flaky, /broken, /gone and /slow")


@dataclass(frozen=True)
class Response:
    """A response: a status, a message in a JSON object, and a delay in seconds."""

    status: int
    message: str
    headers: dict[str, str] = field(default_factory=dict)
    delay: int = 0

    @property
    def body(self) -> bytes:
        """The body to send."""
        return json.dumps({"message": self.message}).encode()


def _number(query: dict[str, str], name: str) -> int:
    text = query.get(name, "")
    return int(text[:9]) if text.isascii() and text.isdigit() else 1


def is_signed(secret: str, headers: dict[str, str], body: bytes, now: datetime) -> bool:
    """Whether a delivery has a valid and recent signature, as specified by Standard Webhooks."""
    id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    try:
        age = now - datetime.fromtimestamp(int(timestamp), UTC)
        key = from_base64(secret.removeprefix("whsec_"))
    except (ValueError, OverflowError, OSError):
        return False
    digest = hmac.digest(key, f"{id}.{timestamp}.".encode() + body, hashlib.sha256)
    expected = f"v1,{to_base64(digest)}".encode()
    given = headers.get("webhook-signature", "").encode().split()
    return abs(age) <= _TOLERANCE and any(hmac.compare_digest(expected, one) for one in given)


class _Attempts:
    """The number of attempts of each job, for the latest 10,000 jobs."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._lock = Lock()

    def count(self, job: str) -> int:
        with self._lock:
            self._counts[job] = self._counts.get(job, 0) + 1
            if len(self._counts) > 10_000:
                del self._counts[next(iter(self._counts))]
            return self._counts[job]


class _Server(ThreadingHTTPServer):
    daemon_threads = False

    def __init__(self, address: tuple[str, int], receiver: Receiver) -> None:
        super().__init__(address, _Handler)
        self.receiver = receiver

    def handle_error(self, request: Any, client_address: Any) -> None:
        # A client that disconnects or sends nothing is not an error.
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = 5

    def receive(self) -> None:
        length = self.headers.get("content-length", "0")
        if not length.isdigit() or int(length) > _LARGEST or "transfer-encoding" in self.headers:
            response = Response(413, "the body must have a content-length of at most 1 MiB")
        else:
            headers = {name.lower(): value for name, value in self.headers.items()}
            response = self.server.receiver.respond(
                self.command, self.path, headers, self.rfile.read(int(length))
            )
        self._send(response)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = receive

    def _send(self, response: Response) -> None:
        self.send_response(response.status)
        for name, value in {"content-type": "application/json", **response.headers}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(response.body)))
        self.end_headers()
        self.wfile.write(response.body)

    def log_message(self, *_: Any) -> None:
        pass
