"""Lambda's Invoke call on the loopback, so that the dispatcher reaches local workers as it reaches real ones.

boto3 finds it by AWS_ENDPOINT_URL_LAMBDA. Only asynchronous invocations: 202 at once, the pool does the rest.
"""

import json
import re
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Self

from minutehand.local.pool import Pool

INVOKE = re.compile(r"/2015-03-31/functions/([^/]+)/invocations")


class LambdaEndpoint:
    """Serves Invoke for some pools by name, while the `with` block lasts."""

    def __init__(self, pools: Mapping[str, Pool]) -> None:
        """Open a free port on 127.0.0.1."""

        class Request(_Request):
            functions = pools

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Request)
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        """Start to serve."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Request(BaseHTTPRequestHandler):
    functions: Mapping[str, Pool]

    def do_POST(self) -> None:
        """Take an Event invocation."""
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        named = INVOKE.fullmatch(self.path)
        pool = self.functions.get(named[1]) if named else None
        if pool is None:
            self._reply(404, {"Type": "User", "Message": "Function not found"}, "ResourceNotFoundException")
        elif self.headers.get("x-amz-invocation-type") != "Event":
            self._reply(400, {"Type": "User", "Message": "only Event"}, "InvalidParameterValueException")
        else:
            pool.invoke(json.loads(body or b"{}"))
            self._reply(202, None)

    def _reply(self, status: int, body: object, error: str | None = None) -> None:
        content = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        if error is not None:
            self.send_header("x-amzn-errortype", error)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Say nothing."""
