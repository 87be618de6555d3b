"""Run the real dispatcher and real workers with a simulated clock, on a real server.

Workers are threads, and one runs at a time: until its handler waits for simulated time to pass, or until it has
finished. Then the clock advances to the next event. The result is deterministic on any machine.
"""

import sys
import threading
from collections import deque
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from heapq import heappop, heappush
from types import ModuleType
from typing import Any

import pytest

from minutehand import Database, Job, enqueue
from minutehand.database import connect
from minutehand.handlers import HandlerTable
from minutehand.invocations.running import run_event
from minutehand.model.worker import Worker
from minutehand.model.worker_route import WorkerRoutes
from minutehand.schema.migrate import migrate
from minutehand.settings import Settings
from minutehand.testing.databases import SEARCH_PATH
from minutehand.testing.invoker import RecordingInvoker
from minutehand.testing.statements import run
from minutehand.tick import tick
from tests.servers import Database as Address

START = datetime(2026, 3, 1, 8, tzinfo=UTC)
FROZEN = """
create table minutehand_testing.frozen as select %s::timestamptz as at;
grant select on minutehand_testing.frozen to public;
create or replace function minutehand_testing.clock_timestamp() returns timestamptz
language sql volatile parallel safe as $$ select at from minutehand_testing.frozen $$;
create or replace function minutehand_testing.now() returns timestamptz
language sql stable parallel safe as $$ select at from minutehand_testing.frozen $$;
"""


def with_simulated_clock(address: Address) -> Database:
    """Create the schema in an empty database whose clock starts at START."""
    name = address.admin_url.rpartition("/")[2].partition("?")[0]
    with closing(connect(address.admin_url)) as connection:
        connection.execute(f"alter database {name} set search_path = {SEARCH_PATH}".encode())
    database = Database(address.admin_url)
    run(database, "clock")
    database.connection.execute((FROZEN % f"'{START.isoformat()}'").encode())
    migrate(database)
    run(database, "clock_for_functions")
    return database


@dataclass
class Invocation:
    """A worker's thread and its synchronization."""

    event: dict[str, Any]
    turn: threading.Event = field(default_factory=threading.Event)
    paused: threading.Event = field(default_factory=threading.Event)
    over: bool = False
    error: BaseException | None = None


class RealRun:
    """The events in order of time, in seconds since START."""

    def __init__(
        self,
        address: Address,
        settings: Settings,
        patch: pytest.MonkeyPatch,
        *,
        concurrency: int,
        latency: float,
    ) -> None:
        self.now = 0.0
        self.invocations = 0
        self._address, self._settings = address, settings
        self._concurrency, self._latency = concurrency, latency
        self._database = with_simulated_clock(address)
        self._idle: list[Database] = []
        self._busy = 0
        self._waiting: deque[Invocation] = deque()
        self._agenda: list[tuple[float, int, Callable[[], None]]] = []
        self._count = 0
        self._current: Invocation | None = None
        for module in _modules_with_a_clock():  # the worker's clock follows the server's
            patch.setattr(module, "monotonic", lambda: 1e6 + self.now)

    def close(self) -> None:
        for database in (self._database, *self._idle):
            database.close()

    def at(self, moment: float, what: Callable[[], None]) -> None:
        """Schedule an event."""
        self._count += 1
        heappush(self._agenda, (moment, self._count, what))

    def enqueue(self, moment: float, runs: list[float], fails: int = 0, **options: Any) -> None:
        """Enqueue a job whose attempts take `runs` seconds; the first `fails` attempts fail."""
        payload = {"runs": runs, "fails": fails}
        self.at(moment, lambda: _ignore(enqueue("work", payload, connection=self._database, **options)))

    def ticks(self, interval: float, until: float) -> None:
        """Schedule ticks."""
        for number in range(int(until / interval) + 1):
            self.at(number * interval, self._tick)

    def live(self) -> None:
        """Process all events."""
        while self._agenda:
            self.now, _, what = heappop(self._agenda)
            at = START + timedelta(seconds=self.now)
            self._database.connection.execute("update minutehand_testing.frozen set at = %s", [at])
            what()

    def _tick(self) -> None:
        invoker = RecordingInvoker()
        tick(self._database, invoker, self._settings)
        for event in _in_order(invoker.events):
            self.at(self.now + self._latency, lambda event=event: self._arrive(Invocation(event)))  # type: ignore[misc]

    def _arrive(self, invocation: Invocation) -> None:
        if self._busy == self._concurrency:
            self._waiting.append(invocation)
            return
        self._busy += 1
        self.invocations += 1
        threading.Thread(target=self._answer, args=(invocation, self.now), daemon=True).start()
        self._resume(invocation)

    def _answer(self, invocation: Invocation, began: float) -> None:
        invocation.turn.wait()
        invocation.turn.clear()
        database = self._idle.pop() if self._idle else Database(self._address.admin_url)

        def remaining() -> timedelta:
            return timedelta(seconds=began + 60 - self.now)

        try:
            worker = Worker("worker", f"request-{self.invocations}", 512, "v1")
            event, handlers = invocation.event, HandlerTable({"work": self._handle})
            run_event(database, handlers, event, remaining, self._settings.grace, worker=worker)
        except BaseException as error:
            invocation.error = error
        self._idle.append(database)
        invocation.over = True
        invocation.paused.set()

    def _handle(self, payload: Any, job: Job) -> None:
        invocation = self._current
        assert invocation is not None
        self.at(self.now + payload["runs"][job.attempt - 1], lambda: self._resume(invocation))
        invocation.paused.set()
        invocation.turn.wait()
        invocation.turn.clear()
        if job.attempt <= payload["fails"]:
            raise ValueError("expected by the test")

    def _resume(self, invocation: Invocation) -> None:
        """Resume a worker until it waits or has finished."""
        self._current = invocation
        invocation.paused.clear()
        invocation.turn.set()
        assert invocation.paused.wait(60)
        if not invocation.over:
            return
        if invocation.error is not None:
            raise invocation.error
        self._busy -= 1
        if self._waiting:
            self._arrive(self._waiting.popleft())


def _modules_with_a_clock() -> list[ModuleType]:
    """Return the modules that run attempts, and read the clock for it."""
    runs = ("minutehand.lease", "minutehand.attempts.", "minutehand.invocations.")
    loaded = [module for name, module in sys.modules.items() if name.startswith(runs)]
    return [module for module in loaded if hasattr(module, "monotonic")]


def _in_order(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a fan-out's events in the order of its threads: by queue, then by job id."""
    first: dict[str, str] = {}
    for event in events:
        first[event["queue"]] = min(first.get(event["queue"], "~"), event["offers"][0][0])
    return sorted(events, key=lambda event: (first[event["queue"]], event["offers"][0][0]))


def settings(**options: Any) -> Settings:
    return Settings(workers=WorkerRoutes("worker"), **options)


def _ignore(_: object) -> None:
    pass
