"""A command in a terminal of a given size: its screen, and its keys."""

import codecs
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
from types import TracebackType
from typing import Self

import pyte

SECONDS_TO_WAIT = 60.0
COLORS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")

# The first words of the commands that are printed to be copied.
COMMAND = re.compile(r" *(minutehand|aws|sam|pip|select|update|vacuum|alter table|drop schema) ")


def is_command(line: str) -> bool:
    """Whether a line is a command, which is never broken: a terminal may be narrower."""
    return COMMAND.match(line) is not None


class Terminal:
    """Runs `minutehand` with arguments; use it in a `with` block."""

    def __init__(
        self,
        *arguments: str,
        url: str,
        columns: int = 80,
        lines: int = 24,
        piped: bool = False,
        **environment: str,
    ) -> None:
        """Start it. If it is `piped`, only its messages go to the terminal."""
        self.screen = pyte.Screen(columns, lines)
        self.printed = ""
        self._stream = pyte.ByteStream(self.screen)
        # A read may end within a character.
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        known = {"TERM": "xterm-256color", "DATABASE_URL": url, **environment}
        kept = {
            name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "PAGER")
        }
        self.process = subprocess.Popen(
            [sys.executable, "-m", "minutehand", *arguments],
            env=kept | known,
            stdin=theirs,
            stdout=subprocess.DEVNULL if piped else theirs,
            stderr=theirs,
            start_new_session=True,
            # So that Ctrl-C is a signal.
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(theirs)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._ours)

    @property
    def lines(self) -> list[str]:
        """The lines of the screen."""
        return [line.rstrip() for line in self.screen.display]

    def press(self, keys: str) -> None:
        os.write(self._ours, keys.encode())

    def until(self, text: str) -> list[str]:
        """Return the screen when it shows a text."""
        while not any(text in line for line in self.lines):
            assert self._read(), f"{text!r} is not on the screen:\n" + "\n".join(self.lines)
        return self.lines

    def end(self) -> list[str]:
        """Return what was printed until the command ended, in lines without colors."""
        while self._read():
            pass
        self.process.wait(SECONDS_TO_WAIT)
        return [line.rstrip() for line in COLORS.sub("", self.printed).replace("\r", "").splitlines()]

    def _read(self) -> bool:
        """Read what is there; return False at the end, or if nothing came for a minute."""
        if not select.select([self._ours], [], [], SECONDS_TO_WAIT)[0]:
            return False
        try:
            output = os.read(self._ours, 65536)
        # The other side is closed.
        except OSError:
            return False
        self._stream.feed(output)
        self.printed += self._decoder.decode(output)
        return bool(output)
