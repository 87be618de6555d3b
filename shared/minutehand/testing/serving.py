"""The server of a test run, shared by its processes. It starts with the first test and stops with the last process.

<parent>/minutehand-testing-<run>/alive        locked by each process and its janitor
                                 /starting     locked while a process starts the server
                                 /server.json  URL of the server and name of the template
                                 /postgres     data of the server, if the run started it

The parent is the directory of temporary files, unless the caller names another one.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from fcntl import LOCK_EX, LOCK_SH, flock
from pathlib import Path
from typing import IO, Any, cast

from minutehand.local.errors import AlreadyRunningError, NoPostgresError
from minutehand.testing.databases import Databases, make_template

# The data need not survive a crash, and no background process may change it. The last four settings make copying a
# database eight times as fast.
SETTINGS = {
    "autovacuum": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "max_connections": "300",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "checkpoint_timeout": "1h",
    "max_wal_size": "512MB",
}
JANITOR = Path(__file__).with_name("janitor.py")


@contextmanager
def serving(
    run: str,
    url: str | None,
    migrate: Callable[[str], object],
    *,
    start: Callable[[Path], str] | None = None,
    clock: bool = True,
    parent: str | None = None,
) -> Iterator[Databases]:
    """Yield the databases of the run, on the server at `url` or one from the wheel.

    The first process of the run starts the server, with `start` if given, and completes the template with `migrate`.
    Without `clock` the template has the plain schema, and tests cannot move its time.
    """
    with run_directory(run, parent) as home, ExitStack() as open_here:
        with _locked(home / "starting"):
            if not (home / "server.json").exists():
                template = f"minutehand_{run[:12]}_template"
                _start(home, template, url or (start or start_server)(home / "postgres"), migrate, clock)
            found = json.loads((home / "server.json").read_text())
        databases = Databases(**found, strategy="" if url else "strategy file_copy", clock=clock)
        open_here.callback(databases.close)
        yield databases


@contextmanager
def run_directory(run: str, parent: str | None = None) -> Iterator[Path]:
    """Yield the run's directory; when the last process leaves it, the janitor stops the server."""
    home = Path(parent or tempfile.gettempdir()).resolve() / f"minutehand-testing-{run}"
    with _alive(home):
        yield home


def start_server(home: Path, **options: Any) -> str:
    """Start a server for tests and return its URL; `options` are those of `postgres.start`.

    The directory may contain a running server, if another process started it and then failed to create the template.
    Raises NoPostgresError if a package of the extra is missing.
    """
    try:
        # Imported here, because a run with a server of its own needs no extra.
        from minutehand.local import postgres
    except ModuleNotFoundError as error:
        raise NoPostgresError(
            f"starting Postgres requires an extra ({error.name} is missing); run: pip install 'minutehand[testing]'"
        ) from None
    settings: dict[str, Any] = {"fsync": False, "settings": SETTINGS, **options}
    try:
        return postgres.start(home, **settings).url
    except AlreadyRunningError:
        postgres.stop(home)
        return postgres.start(home, **settings).url


def _start(home: Path, template: str, url: str, migrate: Callable[[str], object], clock: bool) -> None:
    make_template(url, template, migrate, clock=clock)
    unfinished = home / "server.json.unfinished"
    unfinished.touch(mode=0o600)
    unfinished.write_text(json.dumps({"url": url, "template": template}))
    unfinished.rename(home / "server.json")


@contextmanager
def _alive(home: Path) -> Iterator[None]:
    """Run a janitor while this process uses the directory; it outlives the process and notices its end."""
    lock = _enter(home)
    command = [sys.executable, "-P", str(JANITOR), str(home), str(lock)]
    path = os.pathsep.join(filter(None, sys.path))
    janitor = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        pass_fds=[lock],
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    os.close(lock)
    try:
        yield
    finally:
        cast(IO[bytes], janitor.stdin).close()
        janitor.wait()


def _enter(home: Path) -> int:
    """Return a shared lock on the directory; create it again if a janitor is removing it."""
    while True:
        home.mkdir(mode=0o711, exist_ok=True)
        try:
            lock = os.open(home / "alive", os.O_RDWR | os.O_CREAT, 0o600)
        except FileNotFoundError:
            continue
        flock(lock, LOCK_SH)
        if (home / "alive").exists() and os.fstat(lock).st_ino == (home / "alive").stat().st_ino:
            return lock
        os.close(lock)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as lock:
        flock(lock, LOCK_EX)
        yield
