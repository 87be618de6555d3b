"""Reload: load the code of a local run again when its files change."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from socket import socket
from threading import Event
from time import monotonic

from minutehand.local.pool import Pool
from minutehand.local.show import Show
from minutehand.local.stopping import never
from minutehand.local.watch import Watch

START_SECONDS, POLL_SECONDS = 120.0, 0.05
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
    # A socket that listens on the port, for one start. The process inherits it, so that nothing else takes the port.
    listening: socket | None = None
    # Whether current requests must end now when it stops.
    urgent: Callable[[], bool] = never
    _process: subprocess.Popen[bytes] | None = None
    _inherits: bool = False

    def start(self) -> None:
        """Start the process. It ends with this one, because its standard input closes."""
        command = [sys.executable, "-m", "minutehand.local.serve_api", str(self.directory), self.target]
        inherited = [self.listening.fileno()] if self.listening else []
        self._process = subprocess.Popen(
            [*command, str(self.port), *map(str, inherited)],
            stdin=subprocess.PIPE,
            stdout=self.log,
            env={**os.environ, **self.environment},
            start_new_session=True,
            pass_fds=inherited,
        )
        self._inherits = self.listening is not None
        if self.listening:
            self.listening.close()
            self.listening = None

    def accepts(self, stop: Event) -> bool:
        """Wait until the process answers requests; return False if it ended, took too long, or `stop` was set."""
        deadline = monotonic() + START_SECONDS
        while not self.ended and monotonic() < deadline:
            if self._answers():
                return True
            if stop.wait(POLL_SECONDS):
                return False
        return False

    def _answers(self) -> bool:
        """Return whether it accepts connections, and if its socket was inherited, also whether it answers.

        A process listens when it has loaded the application. A socket that it inherits accepts connections before.
        """
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=1)) as connection:
            try:
                connection.connect()
                # Only if needed: the application may log it.
                if self._inherits:
                    connection.request("HEAD", "/")
                    connection.getresponse()
            except (OSError, HTTPException):
                return False
        return True

    @property
    def ended(self) -> bool:
        """Whether the process has ended by itself."""
        return self._process is not None and self._process.poll() is not None

    def stop(self) -> None:
        """End the process after its current requests, or after ten seconds: a request may wait for a locked table."""
        if self._process is None:
            return
        # Closes the pipe, which requests the end, and waits.
        with self._process as process:
            if process.stdin:
                process.stdin.close()
            deadline = monotonic() + STOP_SECONDS
            while not self.ended and monotonic() < deadline and not self.urgent():
                with suppress(subprocess.TimeoutExpired):
                    process.wait(POLL_SECONDS)
            process.kill()


@contextmanager
def serve(
    directory: Path,
    target: str,
    port: int,
    environment: dict[str, str],
    log: int = subprocess.DEVNULL,
    listening: socket | None = None,
    urgent: Callable[[], bool] = never,
) -> Iterator[Application]:
    """Serve an application such as `app:app` in a directory, on a port or on a socket that listens on it."""
    application = Application(directory, target, port, environment, log, listening, urgent)
    application.start()
    try:
        yield application
    finally:
        application.stop()


class Reload:
    """Starts new processes of the functions and applications after a change of a project's files."""

    def __init__(
        self, watch: Watch, pools: Sequence[Pool], applications: Sequence[Application], show: Show
    ) -> None:
        """Compare with the files that `watch` has seen; create it before the processes start."""
        self._watch = watch
        self._pools, self._applications, self._show = pools, applications, show

    def check(self, stop: Event) -> None:
        """Reload if a file was changed since the last call, and print it when the new code is used."""
        changed = self._watch.changed()
        if not changed:
            return
        for pool in self._pools:
            pool.reload()
        for application in self._applications:
            application.stop()
            application.start()
        failed = [application for application in self._applications if not application.accepts(stop)]
        if stop.is_set():
            return
        self._show.reloaded(changed)
        for application in failed:
            self._show.not_started(application.target)
