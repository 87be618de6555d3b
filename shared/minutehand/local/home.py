"""Home: the directory of a local run, with Postgres's data, a lock and the ports to use again."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path

from rich.console import Console

from minutehand.database.opening import read_url
from minutehand.local import postgres
from minutehand.local.errors import AlreadyRunningError, LocalError, PortForbiddenError, PortInUseError
from minutehand.local.receiver import Receiver
from minutehand.settings.table import DATABASE_URL

HOME = Path(".minutehand")


@contextmanager
def serve_database(console: Console) -> Iterator[str]:
    """Start the Postgres of this directory, or use DATABASE_URL if it is that of another one; yield the URL."""
    if (given := DATABASE_URL.read()) and not is_own(given, HOME):
        console.print(
            "Postgres    from DATABASE_URL; due jobs of other programs in this database run here, too"
        )
        yield given
        return
    with lock_home(HOME):
        # A killed run may have left a server behind.
        postgres.stop(HOME)
        if console.is_terminal:
            console.print("Postgres    starting ...", end="\r")
        server = postgres.start(HOME)
        note = HOME / "url"
        try:
            _write_private(note, server.url)
            console.print(f"Postgres    port {server.port}, data in {HOME}")
            if given and read_url(given).get("port") != str(server.port):
                console.print(
                    f"{' ' * 11} the port in DATABASE_URL is an old one: export it again from {note}"
                )
            yield server.url
        finally:
            note.unlink(missing_ok=True)
            server.stop()


def is_own(url: str, home: Path) -> bool:
    """Whether a URL is that of the Postgres in this directory, whose password is in no other URL.

    Its port may have changed since.
    """
    password, parts = home / "password", read_url(url)
    address = [parts.get(name) for name in ("user", "host", "dbname")]
    return (
        address == ["postgres", postgres.HOST, "postgres"]
        and os.access(password, os.R_OK)
        and parts.get("password") == password.read_text()
    )


@contextmanager
def lock_home(home: Path) -> Iterator[None]:
    """Lock the directory for one local run; the lock ends with the process."""
    home.mkdir(parents=True, exist_ok=True)
    with (home / "run.lock").open("w") as lock:
        try:
            flock(lock, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            raise AlreadyRunningError(
                f"a local run is already using {home.absolute()}; use it, or end it with Ctrl-C"
            ) from None
        yield


@contextmanager
def receive(secret: str) -> Iterator[Receiver]:
    """Start a receiver on the port of the last run, so that pending deliveries reach it after a restart."""
    note = HOME / "receiver-port"
    last = int(note.read_text()) if note.exists() else 0
    with Receiver(secret=secret, port=last if last and is_free(last) else 0) as receiver:
        HOME.mkdir(parents=True, exist_ok=True)
        note.write_text(receiver.url.rpartition(":")[2])
        yield receiver


def is_free(port: int) -> bool:
    """Whether the port is free on 127.0.0.1; raise PortForbiddenError if this user may not listen on it."""
    try:
        listen(port).close()
    except PortInUseError:
        return False
    return True


def listen(port: int) -> socket.socket:
    """Return a socket that listens on a port of 127.0.0.1.

    Raises PortInUseError if the port is in use, PortForbiddenError if this user may not listen on it.
    """
    opened = socket.socket()
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        opened.bind(("127.0.0.1", port))
        opened.listen()
    except OSError as error:
        opened.close()
        raise _refused(port, error) from None
    return opened


def _refused(port: int, error: OSError) -> LocalError:
    if isinstance(error, PermissionError):
        return PortForbiddenError(
            f"permission denied for port {port}: the system reserves low ports; "
            "choose one from 1024 to 65535 with --port"
        )
    return PortInUseError(
        f"port {port} is in use; choose another with --port, or end the process that listens on it"
    )


def _write_private(path: Path, text: str) -> None:
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
