"""Keys from a terminal, one at a time and without echo."""

import os
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from select import select

SEQUENCE_SECONDS = 0.05
NAMES = {"\x1b[A": "up", "\x1bOA": "up", "\x1b[B": "down", "\x1bOB": "down", "\r": "enter", "\n": "enter"}
NAMES |= {
    "\x1b": "back",
    "\x7f": "back",
    "\x1b[D": "back",
    "\x1b[C": "enter",
    "k": "up",
    "j": "down",
    "": "q",
}


@contextmanager
def each_key() -> Iterator[None]:
    """Read keys as they are pressed. Ctrl-C still interrupts."""
    before = termios.tcgetattr(sys.stdin)
    try:
        tty.setcbreak(sys.stdin)
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def read_key(seconds: float) -> str | None:
    """Return the name of the next key, or None if none is pressed in this time. The end of the input is `q`."""
    if not select([sys.stdin], [], [], seconds)[0]:
        return None
    pressed = os.read(sys.stdin.fileno(), 1)
    # A terminal sends the sequence of a key at once; Escape alone is followed by nothing.
    if pressed == b"\x1b" and select([sys.stdin], [], [], SEQUENCE_SECONDS)[0]:
        pressed += os.read(sys.stdin.fileno(), 2)
    name = pressed.decode("utf-8", "replace")
    return NAMES.get(name, name)
