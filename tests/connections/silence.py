"""Faulty servers: one that accepts data and never answers, and one that starts slowly."""

import socket
import struct
from contextlib import suppress
from ctypes import addressof, create_string_buffer
from threading import Event, Thread
from typing import Self

from psycopg.conninfo import conninfo_to_dict, make_conninfo

SO_ATTACH_FILTER = 26


class Gate:
    """A way to Postgres that can go dead as behind a NAT: nothing is closed, and no packet comes through any more.

    `asleep` is a way whose far end is not there yet: it accepts, and is silent until `wake`.
    """

    def __init__(self, url: str, *, asleep: bool = False) -> None:
        parts = conninfo_to_dict(url)
        self._behind = (str(parts["host"]), int(str(parts["port"])))
        self._awake = Event()
        if not asleep:
            self._awake.set()
        self._ends: list[socket.socket] = []
        self._deaf: set[socket.socket] = set()
        self._threads: list[Thread] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.accepted = 0
        self.url = make_conninfo(url, host="127.0.0.1", port=self._listener.getsockname()[1])
        self._start(self._accept)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._awake.set()
        for end in (self._listener, *self._ends):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        for end in (self._listener, *self._ends):
            end.close()

    def wake(self) -> None:
        """Answer, also those who wait."""
        self._awake.set()

    def swallow(self) -> None:
        """Take every packet of what is open and acknowledge none, as a NAT does that has forgotten a connection."""
        for end in self._ends:
            drop_everything(end)

    def deafen(self) -> None:
        """Take every byte of what is open, acknowledge it and answer none, as a pooler does that hangs."""
        self._deaf.update(self._ends)

    def _start(self, target: object, *args: socket.socket) -> None:
        self._threads.append(Thread(target=target, args=args))  # type: ignore[arg-type]
        self._threads[-1].start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self.accepted += 1
                self._ends.append(client)
                self._start(self._serve, client)

    def _serve(self, client: socket.socket) -> None:
        self._awake.wait()
        with suppress(OSError):
            server = socket.create_connection(self._behind)
            self._ends.append(server)
            self._start(self._pump, server, client)
            self._pump(client, server)

    def _pump(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while block := source.recv(65536):
                if source not in self._deaf:
                    sink.sendall(block)
        with suppress(OSError):
            sink.shutdown(socket.SHUT_RDWR)


def drop_everything(end: socket.socket) -> None:
    """Have the kernel drop what comes in before TCP sees it: a filter of one instruction, `return 0`."""
    instruction = create_string_buffer(struct.pack("HBBI", 0x06, 0, 0, 0))
    program = struct.pack("HL", 1, addressof(instruction))
    end.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, program)
