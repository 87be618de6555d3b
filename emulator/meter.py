"""Meter: count what Lambda would bill."""

from dataclasses import dataclass, field, replace
from math import ceil
from threading import Lock

from emulator.invocation import Result


@dataclass(frozen=True, kw_only=True)
class Reading:
    """The usage of a function; the init of an environment is billed too."""

    invocations: int = 0
    cold_starts: int = 0
    errors: int = 0
    throttles: int = 0
    billed_ms: int = 0
    gb_seconds: float = 0.0
    events: int = 0
    """Events accepted by the asynchronous queue."""
    expired: int = 0
    """Failed events: too old, or out of attempts."""

    def __add__(self, other: "Reading") -> "Reading":
        """Add the counts."""
        return Reading(**{name: value + getattr(other, name) for name, value in vars(self).items()})


@dataclass
class Meter:
    """Counts by logical id."""

    functions: dict[str, Reading] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def count(self, function: str, **more: float) -> None:
        """Add to the counts of a function."""
        with self._lock:
            reading = self.functions.get(function, Reading())
            self.functions[function] = replace(
                reading, **{name: getattr(reading, name) + n for name, n in more.items()}
            )

    def count_result(self, function: str, result: Result, memory_mb: int) -> None:
        """Count and bill an invocation."""
        billed = max(1, ceil(result.ms + result.init_ms))
        self.count(
            function,
            invocations=1,
            cold_starts=int(result.cold),
            errors=int(result.error is not None),
            billed_ms=billed,
            gb_seconds=billed / 1000 * memory_mb / 1024,
        )

    @property
    def total(self) -> Reading:
        """The sum of all functions."""
        with self._lock:
            return sum(self.functions.values(), Reading())
