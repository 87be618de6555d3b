"""Concurrency: the limits of the account and of functions with a reservation."""

from collections import Counter
from collections.abc import Mapping
from threading import Lock

from emulator.invocation import throttled


class Concurrency:
    """Count running invocations by logical id; the limits may change at any time."""

    def __init__(self, account: int, reserved: Mapping[str, int | None]) -> None:
        """Start with no invocations."""
        self._lock = Lock()
        self.account = account
        self.reserved = dict(reserved)
        self._running: Counter[str] = Counter()
        self.highest: Counter[str] = Counter()
        """The highest number of simultaneous invocations."""

    def acquire(self, function: str) -> None:
        """Count an invocation; raise Lambda's 429 if the limit is reached."""
        with self._lock:
            reserved = self.reserved.get(function)
            if reserved is not None and self._running[function] >= reserved:
                raise throttled("ReservedFunctionConcurrentInvocationLimitExceeded")
            if reserved is None and self._unreserved() >= self.account - sum(
                filter(None, self.reserved.values())
            ):
                raise throttled("ConcurrentInvocationLimitExceeded")
            self._running[function] += 1
            self.highest[function] = max(self.highest[function], self._running[function])

    def release(self, function: str) -> None:
        """Count the end of an invocation."""
        with self._lock:
            self._running[function] -= 1

    def running(self, function: str) -> int:
        """Return the number of running invocations of a function."""
        with self._lock:
            return self._running[function]

    def _unreserved(self) -> int:
        return sum(n for function, n in self._running.items() if self.reserved.get(function) is None)
