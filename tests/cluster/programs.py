"""Programs that end with the tests, and helpers that wait for them."""

import json
import socket
import subprocess
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from threading import Event
from time import monotonic
from typing import Any
from urllib.error import URLError

import psutil

SECONDS = 300


@dataclass
class Program:
    """A program that ends when this process does."""

    keeper: "subprocess.Popen[str]"
    pid: int

    def lives(self) -> bool:
        """Whether it runs. A killed program is a zombie until its keeper collects it."""
        with suppress(psutil.NoSuchProcess):
            return psutil.Process(self.pid).status() != psutil.STATUS_ZOMBIE
        return False

    def family(self) -> list[psutil.Process]:
        """The program and its descendants."""
        program = psutil.Process(self.pid)
        return [program, *program.children(recursive=True)]

    def end(self) -> None:
        """Kill it and its process group."""
        family = self.family() if self.lives() else []
        self.keeper.communicate("")
        each(family, psutil.Process.kill)


def each(processes: list[psutil.Process], act: Callable[[psutil.Process], Any]) -> None:
    """Do something to those of the processes that are still there."""
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            act(process)


def free_port() -> int:
    """Find a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def fetched(url: str) -> Any:
    """What a page of Spark's says, or nothing while there is none."""
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return json.load(answer)
    except (URLError, ConnectionError, TimeoutError, json.JSONDecodeError):
        return None


def until(happened: Callable[[], Any], meanwhile: Callable[[], bool] = lambda: True) -> Any:
    """Look until something has happened; fail when it never does."""
    deadline, look = monotonic() + SECONDS, Event()
    while not (seen := happened()):
        assert meanwhile() and monotonic() < deadline, "it never happened"
        look.wait(0.02)
    return seen
