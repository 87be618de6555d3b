"""Facts: the record of faults, and the numbers of invocations."""

from collections import Counter
from dataclasses import dataclass
from threading import Lock

from emulator.invocation import Invocation


@dataclass(frozen=True, kw_only=True)
class Fact:
    """A fault: lost, delayed, duplicated, cut, throttled, killed, frozen or overran."""

    what: str
    function: str
    id: str
    number: int
    """The number of the invocation, counted from 0 for each function."""
    run: int
    """The number of the run, counted from 1; 0 before the first."""
    after: float
    """Seconds after the handler began or the event was accepted; for a cut chain, its hops."""
    at: float
    """By the emulator's clock."""


class Ledger:
    """Record faults, and number invocations."""

    def __init__(self) -> None:
        """Start empty."""
        self._lock = Lock()
        self._facts: list[Fact] = []
        self._numbers: dict[str, int] = {}
        self._counts: Counter[str] = Counter()
        self._runs: Counter[str] = Counter()
        self._longest: Counter[str] = Counter()

    def number(self, invocation: Invocation) -> int:
        """Return the number of an invocation; all copies and attempts of an event have the same."""
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
        """Record a fault."""
        number = self.number(invocation)
        with self._lock:
            self._facts.append(
                Fact(
                    what=what,
                    function=invocation.function,
                    id=invocation.id,
                    number=number,
                    run=self._runs[invocation.id],
                    after=after,
                    at=at,
                )
            )

    @property
    def facts(self) -> list[Fact]:
        """All faults until now."""
        with self._lock:
            return list(self._facts)

    @property
    def longest(self) -> Counter[str]:
        """The length of the longest chain before each function."""
        with self._lock:
            return self._longest.copy()
