"""Programs that a test starts end with it, even if it fails or they hang."""

from collections.abc import Iterator
from contextlib import contextmanager
from subprocess import Popen
from threading import Timer
from typing import AnyStr


@contextmanager
def watched(program: Popen[AnyStr], seconds: float = 120) -> Iterator[Popen[AnyStr]]:
    """Kill a program at the end of the block, or after so long: a test that reads its output then goes on."""
    limit = Timer(seconds, program.kill)
    limit.daemon = True
    limit.start()
    with program:
        try:
            yield program
        finally:
            limit.cancel()
            program.kill()


def line(program: Popen[AnyStr]) -> AnyStr:
    """Return the next line of a watched program's output; fail if it has ended, or was killed, without one."""
    assert program.stdout is not None
    heard = program.stdout.readline()
    assert heard, f"the program printed no line before it ended, or was killed: exit code {program.wait()}"
    return heard
