"""The meter: what the invocations would be billed."""

from dataclasses import dataclass, field, replace
from math import ceil
from threading import Lock

from emulator.invocation import Answer


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What a function used: an invocation is a request, and its init is billed with it."""

    invocations: int = 0
    cold_starts: int = 0
    errors: int = 0
    throttles: int = 0
    billed_ms: int = 0
    gb_seconds: float = 0.0
    events: int = 0
    """Accepted by the asynchronous queue."""
    expired: int = 0
    """Events given up: too old, or tried too often."""

    def __add__(self, other: "Reading") -> "Reading":
        """Add another."""
        return Reading(**{name: mine + getattr(other, name) for name, mine in vars(self).items()})


@dataclass
class Meter:
    """Counts, by logical id."""

    functions: dict[str, Reading] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def count(self, function: str, **more: float) -> None:
        """Add to the counts of a function."""
        with self._lock:
            reading = self.functions.get(function, Reading())
            self.functions[function] = replace(
                reading, **{name: getattr(reading, name) + n for name, n in more.items()}
            )

    def count_answer(self, function: str, answer: Answer, memory_mb: int) -> None:
        """Bill an invocation."""
        billed = max(1, ceil(answer.ms + answer.init_ms))
        self.count(
            function, invocations=1, cold_starts=int(answer.cold), errors=int(answer.error is not None),
            billed_ms=billed, gb_seconds=billed / 1000 * memory_mb / 1024,
        )  # fmt: skip

    @property
    def total(self) -> Reading:
        """All functions together."""
        with self._lock:
            return sum(self.functions.values(), Reading())
