"""A dispatcher, a worker or a user as a process of its own, which a test duplicates, stops with SIGSTOP and kills.

It reads its event from the first line of its input, and writes one line of JSON at its end.
"""

import json
import os
import signal
import sys
from contextlib import closing
from datetime import timedelta
from typing import Any

import psycopg

from minutehand import Database, enqueue
from minutehand.handlers import HandlerTable
from minutehand.invocations.running import run_event
from minutehand.settings import Settings
from minutehand.testing import RecordingInvoker
from minutehand.tick import tick
from minutehand.waking import sleep

LEASE, GRACE = timedelta(seconds=30), timedelta(seconds=2)


def stop() -> None:
    """Freeze this process until SIGCONT."""
    os.kill(os.getpid(), signal.SIGSTOP)


class Freezing(RecordingInvoker):
    """Freezes the process before it sends its first event."""

    def invoke(self, worker: str, event: dict[str, Any]) -> None:
        if not self.accepted:
            stop()
        super().invoke(worker, event)


def freeze(job: Any) -> None:
    """Freeze the first attempt."""
    if job.attempt == 1:
        stop()


def dispatch(database: Database, event: dict[str, Any]) -> list[dict[str, Any]]:
    """Tick; return the events of the workers."""
    invoker = Freezing() if event.get("freeze") else RecordingInvoker()
    with sleep.invocation(database, ticks=True):
        tick(database, invoker, Settings(capacity=100))
    return invoker.events


def work(database: Database, event: dict[str, Any]) -> list[str]:
    """Handle the jobs of an event; return the ends of their attempts."""
    handlers = HandlerTable({"echo": lambda job: None, "freeze": freeze})
    with sleep.invocation(database):
        return [each.ending for each in run_event(database, handlers, event, lambda: LEASE, GRACE)]


def crash(database: Database, event: dict[str, Any]) -> None:
    """Enqueue, and die before the commit."""
    with psycopg.connect(event["url"]) as connection:
        enqueue("echo", connection=connection, delay=timedelta(hours=1))
        os.kill(os.getpid(), signal.SIGKILL)


ROLES: dict[str, Any] = {"dispatcher": dispatch, "worker": work, "user": crash}


def main(role: str, url: str) -> None:
    with closing(Database(url)) as database:
        # As a warm environment, that has handled another event before.
        database.run("clock")
        print("ready", flush=True)
        print(json.dumps(ROLES[role](database, json.loads(sys.stdin.readline()))), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
