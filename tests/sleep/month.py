"""A month in mode sleep: random races on a real database, whose clock the simulation moves, and wake-ups in moto.

The simulation is EventBridge, which fires wake-ups and sweeps, and Lambda, which runs ticks and workers, or loses them.
"""

import heapq
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from random import Random
from typing import Any
from uuid import UUID

from minutehand import Database, Snooze, enqueue
from minutehand.claim import claim
from minutehand.handlers import Handler
from minutehand.invocations.running import run_event
from minutehand.model.invitation import parse
from minutehand.settings import Settings
from minutehand.testing import RecordingInvoker
from minutehand.testing.statements import run
from minutehand.tick import tick
from minutehand.waking import sleep
from tests.sleep import races
from tests.sleep.checker import MINUTE, Checker, Ledger
from tests.sleep.event_bridge import EventBridge

SWEEP = timedelta(hours=6)
DRAIN = timedelta(hours=13)
LEASE, GRACE = timedelta(seconds=60), timedelta(seconds=2)
SETTINGS = Settings(capacity=500)
SECOND = timedelta(seconds=1)


class OpenDatabase(Database):
    """Stays open at the end of invocations: thousands of new sessions would take most of the simulation's time."""

    def close(self) -> None:
        """Stay open until `disconnect`."""


@dataclass
class Month:
    """One run; `races` random ones in `days`."""

    url: str
    event_bridge: EventBridge
    seed: int
    days: int
    races: int
    start: datetime = datetime(2031, 3, 1, tzinfo=UTC)
    happened: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.random = Random(self.seed)
        self.dispatcher, self.worker, self.user = (OpenDatabase(self.url) for _ in range(3))
        self.ledger = Ledger()
        self.checker = Checker(self.url, self.ledger)
        self.end = self.start + timedelta(days=self.days)
        self.known: list[UUID] = []
        self.paused: set[str] = set()
        self.writers = 0
        self._visits: Counter[UUID] = Counter()
        self._seen: set[str] = set()
        self._watched = False
        self.log: deque[tuple[Any, ...]] = deque(maxlen=2000)
        self._heap: list[tuple[datetime, int, Callable[[], object]]] = []
        self._count = 0

    @property
    def now(self) -> datetime:
        moment: datetime = self.user.run("clock")[0]["now"]
        return moment

    def at(self, time: datetime, act: Callable[[], object]) -> None:
        """Plan an event."""
        self._count += 1
        heapq.heappush(self._heap, (time, self._count, act))

    def soon(self, least: float, most: float, act: Callable[[], object]) -> None:
        """Plan an event within some seconds from now."""
        self.at(self.now + SECOND * self.random.uniform(least, most), act)

    def run(self, progress: Callable[[str], object] = lambda line: None) -> dict[str, float]:
        """Run the month, and then until everything has ended; return the checker's report."""
        for name in ("tick", "sweep"):
            self.happened[name] = 0
        for place in range(self.days * 4 + 3):
            self.at(self.start + place * SWEEP + 20 * SECOND, lambda: self.tick("sweep"))
        for day in range(self.days):
            self.at(self.start + timedelta(days=day), partial(self._describe, day, progress))
        for _ in range(self.races):
            time = self.start + timedelta(hours=1) + (self.end - self.start - DRAIN) * self.random.random()
            self.at(time, lambda: races.race(self))
        while self._heap and self._heap[0][0] < self.end + DRAIN:
            time, _, act = heapq.heappop(self._heap)
            run(self.user, "travel", to=time) if time > self.now else None
            act()
            self._set_wakeups()
        return self.checker.report(self.days)

    def _describe(self, day: int, progress: Callable[[str], object]) -> None:
        ticks, late = self.happened["tick"], self.checker.late
        excused = sum(each.is_excused(self.ledger.lost) for each in late)
        progress(f"day {day}: {ticks} ticks, {len(late)} late jobs, {excused} of them after a lost wake-up")

    def close(self) -> None:
        self.checker.close()
        for database in (self.dispatcher, self.worker, self.user):
            database.disconnect()

    def _set_wakeups(self) -> None:
        """Fire new wake-ups at their minutes. One in the past would never fire."""
        for name in self.event_bridge.names - self._seen:
            self._seen.add(name)
            self.log.append((self.now, "requested", name))
            minute, late = self.event_bridge.minute(name), SECOND * self.random.uniform(0.1, 2)
            assert minute > self.now, f"{name} was requested at {self.now}"
            self.at(minute + late, lambda name=name: self._fire(name))  # type: ignore[misc]

    def _fire(self, name: str) -> None:
        if self.event_bridge.has(name):
            self.tick(name)
            # A completed wake-up exists for a while.
            self.soon(0, 20, lambda: self.event_bridge.delete(name))

    def tick(self, name: str) -> None:
        """Run the dispatcher for a wake-up or a sweep, and then its invocations."""
        self.happened["sweep" if name == "sweep" else "tick"] += 1
        self.log.append((self.now, "tick", name, self.checker.due(self.now, self.paused)))
        count = len(self.checker.late)
        self.checker.tick(self.now, name, self.paused, watched=self._watched)
        if any(not each.is_excused(self.ledger.lost) for each in self.checker.late[count:]):
            late = self.checker.late[-1]
            print(late, *(entry for entry in self.log if entry[0] > late.visible - 3 * MINUTE), sep="\n   ")
        elif self.checker.reason == "unexplained":
            print("unexplained", *list(self.log)[-60:], sep="\n   ")
        self._watched = self.writers > 0
        invoker = RecordingInvoker()
        with sleep.invocation(self.dispatcher, ticks=True):
            tick(self.dispatcher, invoker, SETTINGS, dispatcher="dispatcher")
        for event in invoker.events:
            fate = self.random.random()
            if fate < 0.02:
                self.happened["invocation lost"] += 1
                self._plan_end(event)
            elif fate < 0.04:
                self.soon(0.1, 2, lambda event=event: self._die(event))  # type: ignore[misc]
            else:
                self.soon(0.1, 2, lambda event=event: self._work(event))  # type: ignore[misc]

    def _die(self, event: dict[str, Any]) -> None:
        """Run a worker that dies after its claim."""
        self.happened["worker died"] += 1
        self.checker.work(self.now)
        offers = parse(event).offers
        claim(self.worker, offers, LEASE, GRACE)
        self._plan_end(event)
        self.worker.disconnect()

    def _plan_end(self, event: dict[str, Any]) -> None:
        """Note when the offers or leases of lost work end.

        The tick that made the offers requests the one at their end, and another one may come first.
        """
        for time in self.checker.visible([offer.id for offer in parse(event).offers]):
            self.ledger.plan(time, self.now)

    def _work(self, event: dict[str, Any]) -> None:
        self.checker.work(self.now)
        self.log.append((self.now, "work", event))
        with sleep.invocation(self.worker):
            finishes = run_event(self.worker, self, event, lambda: LEASE, GRACE)
        for finish in finishes:
            # A retry or a snooze, which may be cancelled or moved before its time.
            if finish.visible is not None:
                self.ledger.plan(finish.visible, self.now)

    def find(self, kind: str) -> Handler:
        """Return the handler of every kind: it follows the plan in the payload."""
        return Handler.of(self._handle)

    def _handle(self, job: Any) -> None:
        self._visits[job.id] += 1
        plan = (job.payload or [])[self._visits[job.id] - 1 :]
        match plan[:1]:
            case ["fail"]:
                raise RuntimeError("planned")
            case ["snooze"]:
                raise Snooze(timedelta(seconds=self.random.uniform(1, 7200)))
            case ["enqueue"]:
                self.note(enqueue("task", connection=job.database, delay=self.delay()))

    def note(self, *enqueued: Any, committed: datetime | None = None) -> None:
        """Note jobs that were committed."""
        now = self.now
        for each in enqueued:
            self.known.append(each.id)
            self.ledger.committed[each.id] = committed or now
            self.ledger.plan(each.visible, now)

    def delay(self) -> timedelta:
        """Return a delay: none, or up to minutes, hours or days, but not beyond the month."""
        most = self.random.choice((0, 0, 90, 3600, 86400, 10 * 86400))
        seconds = self.random.uniform(0, most)
        return min(timedelta(seconds=seconds), max(self.end - self.now - SWEEP, timedelta()))
