"""The directory of a local run: Postgres's data, the lock that makes it one run at a time, and what to remember."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path

from rich.console import Console

from minutehand.local import postgres
from minutehand.local.errors import AlreadyRunningError
from minutehand.local.receiver import Receiver
from minutehand.settings.table import DATABASE_URL

HOME = Path(".minutehand")


@contextmanager
def serve_database(console: Console) -> Iterator[str]:
    """Start this directory's Postgres, or use the one of DATABASE_URL; give its URL."""
    if url := DATABASE_URL.read():
        console.print("Postgres    the one of DATABASE_URL")
        yield url
        return
    with alone(HOME):
        postgres.stop(HOME)  # what a killed run has left behind
        console.print("Postgres    starting ...", end="\r")
        server = postgres.start(HOME)
        note = HOME / "url"
        try:
            _write_private(note, server.url)
            console.print(f"Postgres    port {server.port}, data in {HOME}")
            yield server.url
        finally:
            note.unlink(missing_ok=True)
            server.stop()


@contextmanager
def alone(home: Path) -> Iterator[None]:
    """Hold the directory for one local run at a time; the lock goes with the process, however that ends."""
    home.mkdir(parents=True, exist_ok=True)
    with (home / "run.lock").open("w") as lock:
        try:
            flock(lock, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            raise AlreadyRunningError(
                f"a local run is at work in {home.absolute()}: use that one, or end it with Ctrl-C"
            ) from None
        yield


@contextmanager
def receive(secret: str) -> Iterator[Receiver]:
    """Receive at the port of the last time, so that what is still to be delivered finds its way after a restart."""
    note = HOME / "receiver-port"
    last = int(note.read_text()) if note.exists() else 0
    with Receiver(secret=secret, port=last if last and is_free(last) else 0) as receiver:
        HOME.mkdir(parents=True, exist_ok=True)
        note.write_text(receiver.url.rpartition(":")[2])
        yield receiver


def is_free(port: int) -> bool:
    """Say whether one could listen on that port of 127.0.0.1."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def _write_private(path: Path, text: str) -> None:
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
