"""Reload: load the code of a local run again when its files change."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from socket import create_connection
from time import monotonic, sleep

from minutehand.local.pool import Pool
from minutehand.local.show import Show
from minutehand.local.watch import Watch

START_SECONDS, POLL_SECONDS = 30.0, 0.05
STOP_SECONDS = 10.0


@dataclass
class Application:
    """An ASGI application that a process serves on the loopback."""

    directory: Path
    target: str
    port: int
    environment: dict[str, str]
    # Where its log goes.
    log: int = subprocess.DEVNULL
    _process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the process. It ends with this one, because its standard input closes."""
        command = [sys.executable, "-m", "minutehand.local.serve_api", str(self.directory), self.target]
        self._process = subprocess.Popen(
            [*command, str(self.port)],
            stdin=subprocess.PIPE,
            stdout=self.log,
            env={**os.environ, **self.environment},
            start_new_session=True,
        )

    def accepts(self) -> bool:
        """Wait until the process accepts connections; return False if it ended, or took too long."""
        deadline = monotonic() + START_SECONDS
        while self._process is not None and self._process.poll() is None and monotonic() < deadline:
            try:
                create_connection(("127.0.0.1", self.port), timeout=1).close()
            except OSError:
                sleep(POLL_SECONDS)
            else:
                return True
        return False

    @property
    def ended(self) -> bool:
        """Whether the process has ended by itself."""
        return self._process is not None and self._process.poll() is not None

    def stop(self) -> None:
        """End the process after its current requests, or after ten seconds: a request may wait for a locked table."""
        if self._process is None:
            return
        try:
            self._process.communicate(timeout=STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


@contextmanager
def serve(
    directory: Path, target: str, port: int, environment: dict[str, str], log: int = subprocess.DEVNULL
) -> Iterator[Application]:
    """Serve an application such as `app:app` in a directory."""
    application = Application(directory, target, port, environment, log)
    application.start()
    try:
        yield application
    finally:
        application.stop()


class Reload:
    """Starts new processes of the functions and the application after a change of a project's files."""

    def __init__(
        self, root: Path, pools: Sequence[Pool], application: Application | None, show: Show
    ) -> None:
        """Remember the files as they are now."""
        self._watch = Watch(root)
        self._pools, self._application, self._show = pools, application, show

    def check(self) -> None:
        """Reload if a file was changed since the last call."""
        changed = self._watch.changed()
        if not changed:
            return
        self._show.reloaded(changed)
        for pool in self._pools:
            pool.reload()
        if self._application:
            self._application.stop()
            self._application.start()
