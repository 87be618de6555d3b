"""Programs that tests start: their ports, and their ends."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.ports import free_port
from tests.watchdog import line, watched

CONNECTIONS = Path("/proc/sys/net/ipv4/ip_local_port_range")
ENDLESS = "import signal\nprint('ready', flush=True)\nsignal.pause()"


def endless() -> "subprocess.Popen[str]":
    return subprocess.Popen([sys.executable, "-c", ENDLESS], stdout=subprocess.PIPE, text=True)


@pytest.mark.skipif(not CONNECTIONS.exists(), reason="only Linux has this file")
def test_free_port_is_one_that_no_connection_gets() -> None:
    first = int(CONNECTIONS.read_text().split()[0])

    assert all(free_port(further=1) + 1 < first for _ in range(100))


def test_program_ends_with_a_failing_test() -> None:
    with pytest.raises(ZeroDivisionError), watched(endless()) as program:
        raise ZeroDivisionError

    assert program.returncode is not None


def test_wait_for_a_line_of_a_hanging_program_is_bounded() -> None:
    program = endless()
    assert line(program) == "ready\n"

    with watched(program, seconds=1), pytest.raises(AssertionError, match="or was killed: exit code -9"):
        line(program)
