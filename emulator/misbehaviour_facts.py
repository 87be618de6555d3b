"""Facts: what a misbehaviour did, to which invocation, and when; and which invocation of its function each one is."""

from collections import Counter
from dataclasses import dataclass
from threading import Lock

from emulator.invocation import Invocation


@dataclass(frozen=True, kw_only=True)
class Fact:
    """Something that was done: lost, delayed, duplicated, cut, throttled, killed, frozen or overran."""

    what: str
    function: str
    id: str
    number: int
    """Invocations of a function are counted from 0."""
    run: int
    """And the runs of an invocation from 1; 0 before the first."""
    after: float
    """Seconds from the handler's beginning, or from the event's acceptance; of a cut chain its hops."""
    at: float
    """By the emulator's clock."""


class Ledger:
    """Keeps the facts, and numbers the invocations as they come."""

    def __init__(self) -> None:
        """Begin empty."""
        self._lock = Lock()
        self._facts: list[Fact] = []
        self._numbers: dict[str, int] = {}
        self._counts: Counter[str] = Counter()
        self._runs: Counter[str] = Counter()
        self._longest: Counter[str] = Counter()

    def number(self, invocation: Invocation) -> int:
        """Return which invocation of its function this is: all copies and attempts of an event are the same one."""
        with self._lock:
            if invocation.id not in self._numbers:
                self._numbers[invocation.id] = self._counts[invocation.function]
                self._counts[invocation.function] += 1
            self._longest[invocation.function] = max(self._longest[invocation.function], invocation.hops)
            return self._numbers[invocation.id]

    def begin(self, invocation: Invocation) -> int:
        """Count a run."""
        with self._lock:
            self._runs[invocation.id] += 1
            return self._runs[invocation.id]

    def note(self, what: str, invocation: Invocation, at: float, after: float = 0.0) -> None:
        """Keep a fact."""
        number = self.number(invocation)
        with self._lock:
            self._facts.append(Fact(
                what=what, function=invocation.function, id=invocation.id, number=number,
                run=self._runs[invocation.id], after=after, at=at,
            ))  # fmt: skip

    @property
    def facts(self) -> list[Fact]:
        """All until now."""
        with self._lock:
            return list(self._facts)

    @property
    def longest(self) -> Counter[str]:
        """By function, how many functions came before it in the longest chain."""
        with self._lock:
            return self._longest.copy()
