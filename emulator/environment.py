"""Environment: an execution environment with Lambda's local server and its runtime client."""

import json
import os
import re
import shutil
import signal
import tempfile
from base64 import b64encode
from collections.abc import Callable
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from threading import Event, RLock, Thread
from time import monotonic

import psutil

from emulator.addresses import connect, free_address
from emulator.bootstrap import MARK
from emulator.deadline import Deadline
from emulator.guard import Guard
from emulator.invocation import Invocation, Result, failure
from emulator.launch import Launch, start_server

# Lambda allows 10 s; a laptop that starts several environments needs more.
INIT_SECONDS = 60.0
SERVER_LINE = re.compile(r"(START|END|REPORT) RequestId: \S+")
ERROR_FIELDS = {"errorMessage", "errorType", "requestId", "stackTrace"}
# The local server has one function, with this name.
INVOKE_PATH = "/2015-03-31/functions/function/invocations"


class Environment:
    """The processes of an environment and their logs."""

    def __init__(self, launch: Launch, guard: Guard, log: Callable[[str], None]) -> None:
        """Start the server; the runtime starts with the first invocation."""
        self.pid = 0
        self.used = monotonic()
        self.invocations = 0
        self._guard, self._log = guard, log
        self._lock = RLock()
        self._dead = self._expired = False
        self._deadline: Deadline | None = None
        self._tail: list[str] = []
        self._began = 0.0
        self._ended = Event()
        self._seconds = 0.0
        self.home = Path(tempfile.mkdtemp(prefix="lambda-"))
        self._host, self._port, runtime_port = free_address()
        addresses = (f"{self._host}:{self._port}", f"{self._host}:{runtime_port}")
        self._process = start_server(launch, self.home, *addresses)
        guard.watch(self._process.pid)
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()

    def invoke(self, invocation: Invocation, arn: str, timeout: float, seconds: float) -> Result:
        """Send an event and return the result; kill everything `seconds` after the handler began."""
        self.invocations += 1
        cold = self.invocations == 1
        self._tail, self._began, self._seconds = [], 0.0, seconds
        self._ended.clear()
        with self._lock:
            self._signal(signal.SIGCONT)
            self._deadline = Deadline(INIT_SECONDS, self._expire)
        sent = monotonic()
        try:
            status, body = self._send(invocation, arn, timeout)
        except (OSError, HTTPException):
            status, body = 0, b""
        finally:
            self._deadline.cancel()
        over = monotonic()
        if status == 200:
            # Its log arrives through another pipe.
            self._ended.wait(5)
        # The message that the handler began may arrive after the result.
        began = min(over, self._began or (over if cold and status != 200 else sent))
        result = self._classify(invocation, status, body, timeout)
        return Result(
            payload=result.payload,
            error=result.error,
            broken=result.broken or self._dead,
            log=tuple(self._tail),
            cold=cold,
            ms=(over - began) * 1000,
            init_ms=(began - sent) * 1000 if cold else 0.0,
            pid=self.pid,
            id=invocation.id,
        )

    @property
    def began(self) -> float:
        """When the handler began, by the monotonic clock; 0 or the previous value until it begins."""
        return self._began

    @property
    def dead(self) -> bool:
        """Whether the environment was killed."""
        return self._dead

    def freeze(self) -> None:
        """Freeze the processes, as Lambda does between invocations."""
        with self._lock:
            if self._deadline is not None:
                self._deadline.pause()
            self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Continue the processes."""
        with self._lock:
            self._signal(signal.SIGCONT)
            if self._deadline is not None:
                self._deadline.resume()

    def kill(self) -> None:
        """Kill all processes."""
        with self._lock:
            if self._dead:
                return
            self._dead = True
            children = [] if self.pid else self._children()
            # The server last, because a function that outlives it logs an error.
            for group in [*filter(None, [self.pid]), *children, self._process.pid]:
                _kill_group(group)

    def close(self) -> None:
        """Kill all processes and remove all files."""
        self.kill()
        self._process.wait()
        self._reader.join(10)
        for group in filter(None, (self._process.pid, self.pid)):
            self._guard.forget(group)
        shutil.rmtree(self.home, ignore_errors=True)

    def _expire(self) -> None:
        self._expired = True
        self.kill()

    def _signal(self, number: int) -> None:
        if self.pid and not self._dead:
            with suppress(ProcessLookupError):
                os.killpg(self.pid, number)

    def _children(self) -> list[int]:
        with suppress(psutil.Error):
            return [child.pid for child in psutil.Process(self._process.pid).children(recursive=True)]
        return []

    def _send(self, invocation: Invocation, arn: str, timeout: float) -> tuple[int, bytes]:
        ticket = {
            "arn": arn,
            "timeout": timeout,
            "trace": invocation.next_trace,
            "client": invocation.client_context,
        }
        connection = HTTPConnection(self._host, self._port)
        connection.sock = connect(self._host, self._port, lambda: self._process.poll() is None)
        try:
            connection.request(
                "POST",
                INVOKE_PATH,
                invocation.payload or b"{}",
                {
                    "X-Amzn-RequestId": invocation.id,
                    "X-Amz-Client-Context": b64encode(json.dumps(ticket).encode()),
                },
            )
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def _classify(self, invocation: Invocation, status: int, body: bytes, timeout: float) -> Result:
        if self._expired:
            text = f"RequestId: {invocation.id} Error: Task timed out after {timeout:.2f} seconds"
            self._emit(f"{invocation.id} Task timed out after {timeout:.2f} seconds")
            return failure("Sandbox.Timedout", text)
        if status == 200:
            return Result(payload=body, error="Unhandled" if _is_error(body, invocation.id) else None)
        if status and not self._dead:
            return Result(payload=body, error="Unhandled", broken=True)
        text = f"RequestId: {invocation.id} Error: Runtime exited with error: signal: killed"
        return failure("Runtime.ExitError", text)

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as output:
            for line in output:
                text, mark, message = line.decode(errors="replace").rstrip("\n").partition(MARK)
                if mark:
                    self._receive(*message.split())
                elif found := SERVER_LINE.search(text):
                    text = text[: found.start()]
                # The runtime client separates the lines of a traceback with carriage returns.
                for part in text.splitlines():
                    self._emit(part)
                if not mark and found and found[1] == "END":
                    self._ended.set()

    def _receive(self, word: str, value: str) -> None:
        with self._lock:
            if word == "began" and self._deadline is not None:
                self._began = monotonic()
                self._deadline.begin(self._seconds)
            elif word == "started":
                self.pid = int(value)
                self._guard.watch(self.pid)
                if self._dead:
                    _kill_group(self.pid)

    def _emit(self, text: str) -> None:
        self._tail.append(text)
        self._log(text)


def _is_error(body: bytes, id: str) -> bool:
    """Whether the body is an error; the server does not mark errors, but only they contain all these fields."""
    try:
        content = json.loads(body)
    except ValueError:
        return False
    return isinstance(content, dict) and content.keys() >= ERROR_FIELDS and content["requestId"] == id


def _kill_group(group: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)
