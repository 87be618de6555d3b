"""Shared fixtures of the function tests: attempts of jobs, and a server that sends given replies."""

import socket
import ssl
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http.client import parse_headers
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingTCPServer
from threading import Event, Thread
from typing import Any, Self
from uuid import UUID, uuid4

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "functions" / "worker"))

from minutehand import Database, Job
from minutehand.database import default_database, thread_database
from tests.functions.fleet import WORKER, Fleet
from tests.servers import Database as Address

Reply = str | bytes | Callable[[Event], Iterator[bytes]]


@dataclass(frozen=True)
class Seen:
    """A received request."""

    line: str
    headers: dict[str, str]
    body: bytes


class Server(ThreadingTCPServer):
    """A server that sends its replies in order, and repeats the last one.

    A reply is a status (and headers, a line each) without a body, or the bytes, or what yields them part by part.
    """

    allow_reuse_address = True

    def __init__(
        self, *replies: Reply, host: str = "127.0.0.1", port: int = 0, tls: ssl.SSLContext | None = None
    ) -> None:
        super().__init__((host, port), _Handler)
        self.port = self.server_address[1]
        self.authority = f"{host}:{self.port}"
        self.replies = list(replies)
        self.seen: list[Seen] = []
        self.tls = tls
        self.stopping = Event()

    def __enter__(self) -> Self:
        Thread(target=self.serve_forever, args=[0.01], daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopping.set()
        self.shutdown()
        self.server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class _Handler(StreamRequestHandler):
    server: Server
    timeout = 30

    def setup(self) -> None:
        if self.server.tls:
            self.request = self.server.tls.wrap_socket(self.request, server_side=True)
        super().setup()

    def finish(self) -> None:
        super().finish()
        # The server closes only the plain socket, which the TLS socket has replaced.
        self.request.close()

    def handle(self) -> None:
        line = self.rfile.readline().decode().strip()
        if not line:
            return
        headers = {name.lower(): value for name, value in parse_headers(self.rfile).items()}
        self.server.seen.append(Seen(line, headers, self.rfile.read(int(headers.get("content-length", 0)))))
        reply = self.server.replies.pop(0) if len(self.server.replies) > 1 else self.server.replies[0]
        for part in reply(self.server.stopping) if callable(reply) else [_raw(reply)]:
            self.wfile.write(part)


def _raw(reply: str | bytes) -> bytes:
    if isinstance(reply, bytes):
        return reply
    return "\r\n".join(
        ["HTTP/1.1 " + reply.replace("\n", "\r\n"), "content-length: 0", "connection: close", "\r\n"]
    ).encode()


@pytest.fixture
def server() -> type[Server]:
    """A server that sends given replies; use it with `with`."""
    return Server


@pytest.fixture
def attempt() -> Callable[..., Job]:
    """Create attempts of a job; by default a minute is left."""

    def make(remaining: timedelta = timedelta(minutes=1), **facts: Any) -> Job:
        moment = datetime(2026, 1, 31, 8, 0, tzinfo=UTC)
        record = {
            "id": UUID("0198a5b0-0000-7000-8000-000000000001"),
            "ack": UUID("0198a5b0-0000-7000-8000-000000000002"),
            "queue": "default",
            "kind": "http",
            "key": None,
            "payload": None,
            "headers": None,
            "priority": 5,
            "attempts": 1,
            "max_attempts": 8,
            "retry": None,
            "timeout": None,
            "enqueued": moment,
            "run_at": moment,
            "claimed": moment,
        }
        # No server listens there: a handler that uses the database fails its test.
        database = Database("postgresql://nobody@127.0.0.1:1/none")
        job = Job.from_record(record | facts, database, duration=remaining, grace=timedelta(seconds=2))
        job.lease.start()
        return job

    return make


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[list[str]]]:
    """Names with the addresses that they resolve to: one list for each lookup."""
    known: dict[str, list[list[str]]] = {}
    look_up = socket.getaddrinfo

    def answer(host: str, port: int, *args: Any, **options: Any) -> list[Any]:
        if host not in known:
            return look_up(host, port, *args, **options)
        addresses = known[host].pop(0) if len(known[host]) > 1 else known[host][0]
        return [found for address in addresses for found in look_up(address, port, *args, **options)]

    monkeypatch.setattr(socket, "getaddrinfo", answer)
    return known


@pytest.fixture
def http_environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Allow unsigned deliveries to the loopback in an otherwise empty environment."""
    for name in ("SECRETS", "REDIRECTS"):
        monkeypatch.delenv(f"MINUTEHAND_HTTP_{name}", raising=False)
    monkeypatch.setenv("MINUTEHAND_HTTP_ALLOW", "127.0.0.0/8")
    monkeypatch.setenv("MINUTEHAND_HTTP_UNSIGNED", "1")
    return monkeypatch


@pytest.fixture
def fleet(
    database: Address, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Fleet]:
    """The dispatcher and the worker, with a database of the test."""
    monkeypatch.setenv("DATABASE_URL", database.url)
    monkeypatch.setenv("MINUTEHAND_WORKER", WORKER)
    fleet = Fleet(database.url, database.admin_url, capsys)
    fleet.aws.install(monkeypatch)
    yield fleet
    fleet.close()
    default_database().close()
    thread_database.cache_clear()


@pytest.fixture
def handler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], str]]:
    """Write a handler file for the worker, and return its kind."""
    kinds: list[str] = []
    (tmp_path / "handlers").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path))

    def write(body: str) -> str:
        kinds.append(f"kind_{uuid4().hex[:8]}")
        (tmp_path / "handlers" / f"{kinds[-1]}.py").write_text(body, "utf-8")
        return kinds[-1]

    yield write
    for kind in kinds:
        sys.modules.pop(f"handlers.{kind}", None)
