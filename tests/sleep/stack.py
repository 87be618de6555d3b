"""The stack minute by minute in each mode, on a database whose clock the test moves.

The dispatcher is never invoked by an enqueue, as if all these invocations were lost. Those of workers are lost while
`loses` is set, and wait while `holds` is.
"""

import json
from collections.abc import Callable
from contextlib import closing, suppress
from datetime import datetime, timedelta
from time import monotonic
from typing import Any, Self

import pytest

from minutehand import Database, enqueue
from minutehand.handlers import HandlerTable
from minutehand.invocations.running import run_event
from minutehand.local.lambda_endpoint import Call, LambdaEndpoint, Reply
from minutehand.settings import Settings
from minutehand.testing.statements import run
from minutehand.tick import tick
from minutehand.waking import dispatching, invoking, sleep
from tests.sleep.event_bridge import EventBridge

MINUTE, SECOND = timedelta(minutes=1), timedelta(seconds=1)
NOON = datetime.fromisoformat("2031-03-01T12:00:00+00:00")
LEASE = timedelta(seconds=30)
SETTINGS = Settings(capacity=500)
# Longer than a minute of the test.
WAIT_SECONDS = 60.0


class MinuteOverError(Exception):
    """The dispatcher of the next tick takes over."""


class Stack:
    """A database at noon of a day of the future, a dispatcher and a worker."""

    def __init__(self, url: str, event_bridge: EventBridge, patch: pytest.MonkeyPatch) -> None:
        self._event_bridge, self._patch = event_bridge, patch
        self.database, self.worker = Database(url), Database(url)
        self._endpoint = LambdaEndpoint(self)
        self._handlers = HandlerTable({"echo": self._handle})
        self._actions: list[tuple[datetime, Callable[[], object]]] = []
        self._events: list[dict[str, Any]] = []
        self.loses = self.holds = False
        self.mode, self._is_new = "minute", False
        self.now = NOON
        self.ticks = 0
        # When each job started, by its payload.
        self.starts: dict[str, list[datetime]] = {}

    def __enter__(self) -> Self:
        self._endpoint.__enter__()
        values = {"WORKER": "worker", "DISPATCHER": "dispatcher"}
        for name, value in values.items():
            self._patch.setenv(f"MINUTEHAND_{name}", value)
        self._patch.setenv("AWS_ENDPOINT_URL_LAMBDA", self._endpoint.url)
        invoking._invoker.cache_clear()
        self._travel(NOON)
        return self

    def __exit__(self, *error: object) -> None:
        invoking._invoker.cache_clear()
        with closing(self.database), closing(self.worker):
            self._endpoint.__exit__(*error)

    def handle(self, call: Call) -> Reply:
        """Accept an invocation of a process that enqueued jobs."""
        if call.function == "worker":
            self.invoke(call.function, json.loads(call.payload))
        return Reply(status=202)

    def invoke(self, worker: str, event: dict[str, Any]) -> None:
        """Accept an invocation of a worker, which may be lost."""
        if not self.loses:
            self._events.append(event)

    def deploy(self, mode: str) -> None:
        """Change the mode. The schedule of another mode begins with a tick."""
        self.mode, self._is_new = mode, True
        self.use(mode)

    def use(self, mode: str) -> None:
        """Set the variable of the mode, as in an invocation that began before a change."""
        self._patch.setenv("MINUTEHAND_MODE", mode)

    def enqueue(self, name: str, **options: Any) -> None:
        enqueue("echo", name, connection=self.database, **options)

    def at(self, moment: datetime, action: Callable[[], object]) -> None:
        """Do something later."""
        self._actions.append((moment, action))

    def run(self, minutes: int) -> None:
        """Let time pass, with ticks in the minutes that have one."""
        for _ in range(minutes):
            boundary = self._next_minute()
            self.go(boundary)
            wakeups = [name for name, time in self._event_bridge.wakeups.items() if time <= boundary]
            for name in wakeups:
                self._event_bridge.delete(name)
            if self.mode != "sleep" or wakeups or self._is_new:
                self._tick()

    def go(self, moment: datetime) -> None:
        """Let time pass without a tick."""
        due = sorted((each for each in self._actions if each[0] <= moment), key=lambda each: each[0])
        self._actions = [each for each in self._actions if each[0] > moment]
        for time, action in due:
            self._travel(time)
            action()
            self._work()
        self._travel(moment)
        self._work()

    def _travel(self, moment: datetime) -> None:
        run(self.database, "travel", to=moment)
        self.now = moment

    def _next_minute(self) -> datetime:
        return self.now.replace(second=0, microsecond=0) + MINUTE

    def _tick(self) -> None:
        self._is_new = False
        self.ticks += 1
        with sleep.invocation(self.worker, ticks=True):
            tick(self.worker, self, SETTINGS, dispatcher="dispatcher")
        self._work()
        if self.mode == "prompt":
            self._wait()

    def _wait(self) -> None:
        until = monotonic() + WAIT_SECONDS
        with suppress(MinuteOverError):
            dispatching.wait(self.worker, self, SETTINGS, {}, until, self._pause)
        self._work()

    def _pause(self, seconds: float) -> None:
        moment = self.now + seconds * SECOND
        if moment >= self._next_minute():
            raise MinuteOverError
        self.go(moment)

    def take_events(self) -> list[dict[str, Any]]:
        """Return the events that no worker has handled, and forget them."""
        events, self._events = self._events, []
        return events

    def _work(self) -> None:
        for event in [] if self.holds else self.take_events():
            with sleep.invocation(self.worker):
                run_event(self.worker, self._handlers, event, lambda: LEASE, SECOND)

    def _handle(self, payload: str) -> None:
        self.starts.setdefault(payload, []).append(self.now)
