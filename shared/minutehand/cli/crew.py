"""Several worker processes under one. Each has its own main thread, which timeouts require."""

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import FrameType

from minutehand.cli.exits import DATABASE, INTERRUPTED, OK, SCHEMA, USAGE
from minutehand.cli.output import print_message

FINAL = {OK, USAGE, DATABASE, SCHEMA, INTERRUPTED}
PAUSE_SECONDS = 1.0


class Crew:
    """The processes: one that dies is replaced, and signals are passed on to all."""

    def __init__(self, commands: Sequence[Sequence[str]], environment: Mapping[str, str]) -> None:
        """Set the command of each worker, and the environment of all."""
        self._commands, self._environment = commands, dict(environment)
        # The processes by their id, each with the index of its command.
        self._members: dict[int, tuple[int, subprocess.Popen[bytes]]] = {}
        self._stopping = False
        self._worst = OK

    def run(self) -> int:
        """Run the workers until all have exited for good; return the exit code."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._pass_on)
        for index in range(len(self._commands)):
            self._start(index)
        while self._members:
            process, status = os.wait()
            if process in self._members:
                self._exited(process, os.waitstatus_to_exitcode(status))
        return self._worst

    def _start(self, index: int) -> None:
        # In a new session, because a terminal would send Ctrl-C to it too. Its stdin closes when this process
        # exits, however it exits.
        member = subprocess.Popen(
            self._commands[index], env=self._environment, stdin=subprocess.PIPE, start_new_session=True
        )
        self._members[member.pid] = index, member
        if self._stopping:
            member.terminate()

    def _exited(self, process: int, code: int) -> None:
        index, member = self._members.pop(process)
        member.returncode = code
        if member.stdin:
            member.stdin.close()
        if self._stopping and code == -signal.SIGTERM:
            # It was still starting.
            code = OK
        if code in FINAL or self._stopping:
            self._worst = max(self._worst, code if code >= 0 else INTERRUPTED)
            return
        print_message(f"worker {process} {_cause(code)}; restarting it")
        time.sleep(PAUSE_SECONDS)
        if not self._stopping:
            self._start(index)

    def _pass_on(self, _number: int, _frame: FrameType | None) -> None:
        self._stopping = True
        for process in list(self._members):
            # It may have exited, and this signal arrived before it was removed from the members.
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGTERM)


def _cause(code: int) -> str:
    return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"exited with code {code}"
