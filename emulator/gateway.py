"""Gateway: convert HTTP requests to events of format 2.0, and results to HTTP responses."""

import time
from base64 import b64decode, b64encode
from collections.abc import Callable
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Self
from urllib.parse import parse_qsl, unquote, urlsplit
from uuid import uuid4

from emulator.errors import EmulatorError
from emulator.invocation import ACCOUNT, Refused, Result

MAX_BODY = 10 * 1024 * 1024


class Gateway:
    """Serve a function over HTTP on 127.0.0.1 without an authorizer, inside a `with` block."""

    def __init__(self, invoke: Callable[[dict[str, Any]], Result], port: int) -> None:
        """Open the port."""

        class Request(_Request):
            function = staticmethod(invoke)

        try:
            self._server = ThreadingHTTPServer(("127.0.0.1", port), Request)
        except OSError as error:
            raise EmulatorError(
                f"port {port} is not available ({error.strerror}); choose another with --port"
            ) from None
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)

    @property
    def url(self) -> str:
        """The base URL."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        """Start serving."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Request(BaseHTTPRequestHandler):
    function: Callable[[dict[str, Any]], Result]
    protocol_version = "HTTP/1.1"

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        if len(body) > MAX_BODY:
            self._reply(413, {}, b'{"message":"Request Entity Too Large"}')
            return
        try:
            result = self.function(event_of(self, body))
        except Refused as refused:
            self._reply(503 if refused.status == 429 else 500, {}, b'{"message":"Service Unavailable"}')
            return
        content = result.json() if result.error is None else None
        if isinstance(content, dict) and "statusCode" in content:
            self._reply(*response_of(content))
        else:
            self._reply(500, {}, b'{"message":"Internal Server Error"}')

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = _serve  # noqa: N815

    def _reply(
        self, status: int, headers: dict[str, str], body: bytes, cookies: tuple[str, ...] = ()
    ) -> None:
        self.send_response(status)
        for name, value in {
            "content-type": "application/json",
            **headers,
            "content-length": str(len(body)),
        }.items():
            self.send_header(name, value)
        for cookie in cookies:
            self.send_header("set-cookie", cookie)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


def event_of(request: BaseHTTPRequestHandler, body: bytes) -> dict[str, Any]:
    """Return the event of a request in API Gateway's format."""
    address = urlsplit(request.path)
    path = unquote(address.path)
    names = sorted({name.lower() for name in request.headers})
    headers = {name: ",".join(request.headers.get_all(name, [])) for name in names}
    cookies = [part.strip() for part in headers.pop("cookie", "").split(";") if part.strip()]
    query: dict[str, list[str]] = {}
    for name, value in parse_qsl(address.query, keep_blank_values=True):
        query.setdefault(name, []).append(value)
    text = _text(body)
    event = {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": address.query,
        "cookies": cookies,
        "headers": headers,
        "queryStringParameters": {name: ",".join(values) for name, values in query.items()},
        "requestContext": _context(request, path, headers),
        "body": b64encode(body).decode() if text is None else text,
        "isBase64Encoded": text is None,
    }
    return {
        name: value
        for name, value in event.items()
        if value not in ("", [], {}) or name in ("rawQueryString",)
    }


def _context(request: BaseHTTPRequestHandler, path: str, headers: dict[str, str]) -> dict[str, Any]:
    return {
        "accountId": ACCOUNT,
        "apiId": "emulator",
        "domainName": headers.get("host", ""),
        "domainPrefix": "emulator",
        "http": {
            "method": request.command,
            "path": path,
            "protocol": "HTTP/1.1",
            "sourceIp": request.client_address[0],
            "userAgent": headers.get("user-agent", ""),
        },
        "requestId": str(uuid4()),
        "routeKey": "$default",
        "stage": "$default",
        "time": datetime.now(UTC).strftime("%d/%b/%Y:%H:%M:%S +0000"),
        "timeEpoch": int(time.time() * 1000),
    }


def response_of(result: dict[str, Any]) -> tuple[int, dict[str, str], bytes, tuple[str, ...]]:
    """Return the status, headers, body and cookies of a result."""
    body = str(result.get("body") or "")
    content = b64decode(body) if result.get("isBase64Encoded") else body.encode()
    headers = {name.lower(): str(value) for name, value in (result.get("headers") or {}).items()}
    return int(result["statusCode"]), headers, content, tuple(result.get("cookies") or ())


def _text(body: bytes) -> str | None:
    try:
        return body.decode()
    except UnicodeDecodeError:
        return None
