"""How much may run at once: the account's concurrency, and what functions have reserved of it."""

from collections import Counter
from collections.abc import Mapping
from threading import Lock

from emulator.invocation import throttled


class Concurrency:
    """Counts places, by logical id; both limits may change while invocations run."""

    def __init__(self, account: int, reserved: Mapping[str, int | None]) -> None:
        """Begin with nothing running."""
        self._lock = Lock()
        self.account = account
        self.reserved = dict(reserved)
        self._running: Counter[str] = Counter()
        self.highest: Counter[str] = Counter()
        """The most that ran at once."""

    def take(self, function: str) -> None:
        """Take a place; raise Lambda's 429 if there is none."""
        with self._lock:
            own = self.reserved.get(function)
            if own is not None and self._running[function] >= own:
                raise throttled("ReservedFunctionConcurrentInvocationLimitExceeded")
            if own is None and self._unreserved() >= self.account - sum(filter(None, self.reserved.values())):
                raise throttled("ConcurrentInvocationLimitExceeded")
            self._running[function] += 1
            self.highest[function] = max(self.highest[function], self._running[function])

    def give_back(self, function: str) -> None:
        """Give a place back."""
        with self._lock:
            self._running[function] -= 1

    def running(self, function: str) -> int:
        """Return how many invocations of a function are under way."""
        with self._lock:
            return self._running[function]

    def _unreserved(self) -> int:
        return sum(n for function, n in self._running.items() if self.reserved.get(function) is None)
