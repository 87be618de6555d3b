"""Lambda endpoint: the Invoke API on the loopback, so that the dispatcher invokes local workers like real ones.

boto3 uses the endpoint in AWS_ENDPOINT_URL_LAMBDA. The functions behind the endpoint handle the calls; those of a local
run accept only asynchronous invocations, answer 202 and queue the event.
"""

import json
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Protocol, Self
from urllib.parse import parse_qs, unquote, urlsplit

from minutehand.local.pool import Pool

INVOKE = re.compile(r"/2015-03-31/functions/([^/]+)/invocations")


@dataclass(frozen=True, kw_only=True)
class Call:
    """An Invoke call; header names are in lower case."""

    function: str
    kind: str
    payload: bytes
    qualifier: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Reply:
    """The reply to the caller."""

    status: int
    payload: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


class Functions(Protocol):
    """The functions behind an endpoint."""

    def handle(self, call: Call) -> Reply:
        """Answer a call; this is called from several threads."""


def refusal(status: int, name: str, message: str, reason: str | None = None) -> Reply:
    """Return an error in Lambda's format."""
    body = {"Type": "User" if status < 500 else "Service", "Message": message} | (
        {"Reason": reason} if reason else {}
    )
    headers = {"x-amzn-ErrorType": name, "content-type": "application/json"}
    return Reply(status=status, payload=json.dumps(body).encode(), headers=headers)


@dataclass(frozen=True)
class Pools:
    """The functions of a local run, by name."""

    pools: Mapping[str, Pool]

    def handle(self, call: Call) -> Reply:
        """Queue an event."""
        pool = self.pools.get(call.function)
        if pool is None:
            return refusal(404, "ResourceNotFoundException", f"Function not found: {call.function}")
        if call.kind == "DryRun":
            return Reply(status=204)
        if call.kind != "Event":
            return refusal(400, "InvalidParameterValueException", "only Event")
        pool.invoke(json.loads(call.payload or b"{}"))
        return Reply(status=202)


class LambdaEndpoint:
    """Serves Invoke for functions, inside a `with` block."""

    def __init__(self, behind: Functions, port: int = 0) -> None:
        """Open a port on 127.0.0.1; 0 chooses a free one."""

        class Request(_Request):
            functions = behind

        self._server = _Server(("127.0.0.1", port), Request)
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


class _Server(ThreadingHTTPServer):
    # A fan-out connects many times at once.
    request_queue_size = 512

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore errors of callers that have disconnected."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class _Request(BaseHTTPRequestHandler):
    functions: Functions
    # Lets callers reuse their connections.
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        """Handle an invocation."""
        payload = self.rfile.read(int(self.headers.get("content-length", 0)))
        address = urlsplit(self.path)
        named = INVOKE.fullmatch(address.path)
        if named is None:
            self._reply(refusal(404, "UnknownOperationException", "This endpoint supports only Invoke."))
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        self._reply(
            self.functions.handle(
                Call(
                    function=unquote(named[1]),
                    kind=headers.get("x-amz-invocation-type", "RequestResponse"),
                    payload=payload,
                    qualifier=parse_qs(address.query).get("Qualifier", [None])[0],
                    headers=headers,
                )
            )
        )

    def do_GET(self) -> None:
        """Reply that only Invoke is supported."""
        self._reply(refusal(404, "UnknownOperationException", "This endpoint supports only Invoke."))

    def _reply(self, reply: Reply) -> None:
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if reply.status != 204:
            self.send_header("content-length", str(len(reply.payload)))
        self.end_headers()
        self.wfile.write(reply.payload)

    def log_message(self, *_: object) -> None:
        """Log nothing."""
