"""Ports for the programs that tests start."""

import os
import socket
from contextlib import ExitStack, suppress
from secrets import randbelow

# The system gives connections ports from 32768 on, and may take one of those before the program listens on it.
LOWEST, COUNT = 20_000, 12_000
# Each test process has ports of its own, because programs take seconds until they listen.
SHARES = 8


def free_port(host: str = "127.0.0.1", further: int = 0) -> int:
    """Return a free port that the system gives to no connection; so many further ones after it are free too."""
    share = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % SHARES
    while True:
        port = LOWEST + share * COUNT // SHARES + randbelow(COUNT // SHARES - further)
        with ExitStack() as probes, suppress(OSError):
            for place in range(further + 1):
                probes.enter_context(socket.socket()).bind((host, port + place))
            return port
