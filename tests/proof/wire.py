"""A proxy between a client and Postgres that records each statement."""

import socket
import struct
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from threading import Thread
from types import TracebackType
from typing import BinaryIO, Self

from psycopg.conninfo import conninfo_to_dict, make_conninfo

# SSLRequest and GSSENCRequest.
SPECIAL = {80877103, 80877104}
# The beginning of BackendKeyData, and the end of a block with it: ReadyForQuery, idle.
KEY_DATA, TRANSACTION_STATUS = b"K\0\0\0\x0c", b"Z\0\0\0\x05I"


@dataclass(frozen=True)
class SentStatement:
    """A statement that the client sent; `name` is the name of a prepared statement."""

    text: str
    name: str = ""


class Wire:
    """Listen on a port and forward all data. `cut` ends open connections; `close` also refuses new ones.

    Clients receive `process` instead of the process id that the server or pooler announces.
    """

    def __init__(self, url: str, process: int | None = None) -> None:
        self._process = process
        parts = conninfo_to_dict(url)
        self._behind = (str(parts["host"]), int(str(parts["port"])))
        self._open: list[socket.socket] = []
        self._threads: list[Thread] = []
        self._url, self.port = url, 0
        self.statements: list[SentStatement] = []
        self.startups: list[dict[str, str]] = []
        # How often a statement ran (Query, Bind), and how often the client waited for it (Query, Sync).
        self.runs = self.waits = 0
        self._cut_at = ""
        self.listen()

    @property
    def url(self) -> str:
        return make_conninfo(
            self._url, host="127.0.0.1", port=self.port, sslmode="disable", gssencmode="disable"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()

    def listen(self) -> None:
        """Listen again on the same port."""
        self._listener = socket.create_server(("127.0.0.1", self.port))
        self.port = self._listener.getsockname()[1]
        self._start(self._accept, self._listener)

    def cut(self) -> None:
        """End all open connections, like a server that stops."""
        # A copy: a client may reconnect meanwhile.
        for end in list(self._open):
            _end(end)

    def cut_at(self, word: str) -> None:
        """End all connections at the next statement that contains a word."""
        self._cut_at = word

    def close(self) -> None:
        """End all connections and stop listening."""
        _end(self._listener)
        self.cut()
        for thread in self._threads:
            thread.join()
        for end in (self._listener, *self._open):
            end.close()
        self._open, self._threads = [], []

    def _start(self, target: Callable[..., None], *args: socket.socket) -> None:
        self._threads.append(Thread(target=target, args=args))
        self._threads[-1].start()

    def _accept(self, listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                server = socket.create_connection(self._behind)
                for end in (client, server):
                    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._open += [client, server]
                self._start(self._pass_on, client, server)
                self._start(self._answer, server, client)

    def _pass_on(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError, EOFError), client.makefile("rb") as stream:
            server.sendall(self._startup(stream))
            while True:
                kind, body = _read(stream, 1), _body(stream)
                self._note(kind, body[4:])
                server.sendall(kind + body)
        _end(server)

    def _answer(self, server: socket.socket, client: socket.socket) -> None:
        with suppress(OSError):
            while block := server.recv(65536):
                client.sendall(self._announcing(block))
        _end(client)

    def _announcing(self, block: bytes) -> bytes:
        """Replace the process id, if this block announces one."""
        head, key_data, rest = block.partition(KEY_DATA)
        if self._process is None or not key_data or TRANSACTION_STATUS not in rest:
            return block
        return head + key_data + struct.pack("!i", self._process) + rest[4:]

    def _startup(self, stream: BinaryIO) -> bytes:
        body = _body(stream)
        assert struct.unpack("!I", body[4:8])[0] not in SPECIAL
        words = body[8:].decode().split("\0")
        self.startups.append(dict(zip(words[::2], words[1::2], strict=False)))
        return body

    def _note(self, kind: bytes, body: bytes) -> None:
        self.runs += kind in (b"Q", b"B")
        self.waits += kind in (b"Q", b"S")
        if kind == b"Q":
            self.statements.append(SentStatement(body.rstrip(b"\0").decode()))
        elif kind == b"P":
            name, text, _ = body.split(b"\0", 2)
            self.statements.append(SentStatement(text.decode(), name.decode()))
        if self._cut_at and self.statements and self._cut_at in self.statements[-1].text:
            self._cut_at = ""
            self.cut()


def _end(end: socket.socket) -> None:
    with suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)


def _body(stream: BinaryIO) -> bytes:
    length = _read(stream, 4)
    return length + _read(stream, struct.unpack("!I", length)[0] - 4)


def _read(stream: BinaryIO, size: int) -> bytes:
    block = stream.read(size)
    if len(block) < size:
        raise EOFError
    return block
