"""Asynchronous queue: accept events, run them, retry them and give them up by Lambda's rules."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from heapq import heappop, heappush
from itertools import count
from random import Random
from threading import Thread
from typing import Any

from emulator.clock import Clock
from emulator.errors import NotSettledError
from emulator.function import Pool
from emulator.hooks import Hooks
from emulator.invocation import Invocation, Refused, Result
from emulator.meter import Meter

# Seconds until the second and the third attempt.
AFTER_ERRORS = (60.0, 120.0)
# Seconds after a throttle or an internal error of Lambda.
BACKOFF, MAX_BACKOFF = 1.0, 300.0


@dataclass(frozen=True, kw_only=True)
class Failure:
    """A failed event, and the record that Lambda sends to the on-failure destination."""

    function: str
    destination: str | None
    record: dict[str, Any]


@dataclass(order=True)
class _Waiting:
    due: float
    order: int
    invocation: Invocation = field(compare=False)
    refusals: int = field(default=0, compare=False)
    tries: int = field(default=0, compare=False)
    last: Result | None = field(default=None, compare=False)


class AsyncQueue:
    """Store events until a function has handled them, or they are too old or out of attempts."""

    def __init__(
        self, clock: Clock, pool: Callable[[str], Pool], hooks: Callable[[], Hooks], meter: Meter
    ) -> None:
        """Start empty; `start` begins to run events."""
        self.failures: list[Failure] = []
        self._clock, self._pool, self._hooks, self._meter = clock, pool, hooks, meter
        self._waiting: list[_Waiting] = []
        self._order = count()
        self._running = 0
        self._closing = False
        self._chance = Random(0)
        self._thread = Thread(target=self._serve, daemon=True)

    def start(self) -> None:
        """Run events until `close`."""
        self._thread.start()

    def close(self) -> None:
        """Discard pending events; do not wait for running ones."""
        with self._clock.changed:
            self._closing = True
            self._clock.changed.notify_all()
        self._thread.join()

    def accept(self, invocation: Invocation) -> None:
        """Queue an event; Lambda always answers 202."""
        self._meter.count(invocation.function, events=1)
        invocation = replace(invocation, accepted=self._clock.now())
        for delay in self._hooks().deliver(invocation):
            self._put(_Waiting(invocation.accepted + delay, next(self._order), invocation))

    @property
    def next_due(self) -> float | None:
        """The time at which the next event is due."""
        with self._clock.changed:
            return self._waiting[0].due if self._waiting else None

    def __len__(self) -> int:
        """Return the number of pending and running events."""
        with self._clock.changed:
            return len(self._waiting) + self._running

    def settle(self, seconds: float) -> None:
        """Wait until no event is running or due; raise NotSettledError after this many real seconds."""
        deadline = time.monotonic() + seconds
        with self._clock.changed:
            while self._running or (self._waiting and self._waiting[0].due <= self._clock.now()):
                if (left := deadline - time.monotonic()) <= 0:
                    raise NotSettledError(f"{self._running} events are still running after {seconds:g} s")
                self._clock.changed.wait(left)

    def _put(self, waiting: _Waiting) -> None:
        with self._clock.changed:
            heappush(self._waiting, waiting)
            self._clock.changed.notify_all()

    def _serve(self) -> None:
        while (waiting := self._next()) is not None:
            try:
                self._attempt(waiting)
            finally:
                self._leave()

    def _next(self) -> _Waiting | None:
        with self._clock.changed:
            while not self._closing:
                due = self._waiting[0].due if self._waiting else None
                if due is not None and due <= self._clock.now():
                    self._running += 1
                    return heappop(self._waiting)
                self._clock.wait_until(due)
        return None

    def _leave(self) -> None:
        with self._clock.changed:
            self._running -= 1
            self._clock.changed.notify_all()

    def _attempt(self, waiting: _Waiting) -> None:
        """Start an attempt, or put the event back if the concurrency is used up."""
        pool = self._pool(waiting.invocation.function)
        if self._clock.now() - waiting.invocation.accepted > pool.function.age:
            self._give_up(waiting, pool, "EventAgeExceeded")
            return
        waiting.invocation = replace(waiting.invocation, attempt=waiting.tries + 1)
        try:
            pool.admit(waiting.invocation)
        except Refused:
            self._back_off(waiting, pool)
            return
        with self._clock.changed:
            self._running += 1
        Thread(target=self._run, args=(waiting, pool), daemon=True).start()

    def _run(self, waiting: _Waiting, pool: Pool) -> None:
        try:
            waiting.last = pool.run(waiting.invocation)
            waiting.tries += 1
            if waiting.last.error is not None:
                self._try_again(waiting, pool)
        except Refused:
            self._back_off(waiting, pool)
        finally:
            self._leave()

    def _try_again(self, waiting: _Waiting, pool: Pool) -> None:
        if waiting.tries > pool.function.retries:
            self._give_up(waiting, pool, "RetriesExhausted")
        else:
            self._later(waiting, pool, AFTER_ERRORS[min(waiting.tries, len(AFTER_ERRORS)) - 1])

    def _back_off(self, waiting: _Waiting, pool: Pool) -> None:
        """Put it back with exponential backoff and jitter."""
        waiting.refusals += 1
        seconds = BACKOFF * 2 ** min(waiting.refusals - 1, 9) * self._chance.uniform(0.5, 1.5)
        self._later(waiting, pool, min(MAX_BACKOFF, seconds))

    def _later(self, waiting: _Waiting, pool: Pool, seconds: float) -> None:
        """Put it back until then, or until it is too old."""
        expires = waiting.invocation.accepted + pool.function.age + 0.001
        waiting.due = min(self._clock.now() + seconds, expires)
        self._put(waiting)

    def _give_up(self, waiting: _Waiting, pool: Pool, condition: str) -> None:
        self._meter.count(waiting.invocation.function, expired=1)
        moment = datetime.fromtimestamp(self._clock.now(), UTC).isoformat(timespec="milliseconds")
        record = describe(
            waiting.invocation, pool.function.arn, condition, waiting.tries, waiting.last, moment
        )
        failure = Failure(function=pool.function.id, destination=pool.function.destination, record=record)
        with self._clock.changed:
            self.failures.append(failure)


def describe(
    invocation: Invocation, arn: str, condition: str, tries: int, last: Result | None, moment: str
) -> dict[str, Any]:
    """Return the record of a failed event, as an on-failure destination receives it."""
    record: dict[str, Any] = {
        "version": "1.0",
        "timestamp": moment.replace("+00:00", "Z"),
        "requestContext": {
            "requestId": invocation.id,
            "functionArn": f"{arn}:$LATEST",
            "condition": condition,
            "approximateInvokeCount": tries,
        },
        "requestPayload": json.loads(invocation.payload or b"{}"),
    }
    if last is not None:
        record["responseContext"] = {
            "statusCode": 200,
            "executedVersion": "$LATEST",
            "functionError": last.error,
        }
        record["responsePayload"] = last.json()
    return record
