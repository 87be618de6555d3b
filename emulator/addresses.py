"""Addresses: a loopback address and free ports for each environment."""

import random
import socket
import time
from collections.abc import Callable

# Below the ports that Linux uses for outgoing connections.
PORTS = range(10_000, 30_000)
SECONDS = 30
_random = random.SystemRandom()


def free_address() -> tuple[str, int, int]:
    """Return a loopback address and two free ports."""
    while True:
        host = f"127.{_random.randint(1, 254)}.{_random.randint(0, 255)}.{_random.randint(1, 254)}"
        first, second = _random.sample(PORTS, 2)
        if _is_free(host, first) and _is_free(host, second):
            return host, first, second


def connect(host: str, port: int, alive: Callable[[], bool]) -> socket.socket:
    """Connect to a server that is starting; raise OSError if it exits first."""
    deadline = time.monotonic() + SECONDS
    while True:
        try:
            return socket.create_connection((host, port))
        except OSError:
            if not alive() or time.monotonic() > deadline:
                raise
        time.sleep(0.005)


def _is_free(host: str, port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind((host, port))
        except OSError:
            return False
        return True
