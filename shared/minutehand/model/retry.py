"""Retry: the backoff after a failure: fixed, linear or exponential, capped, with full jitter."""

from dataclasses import dataclass
from datetime import timedelta

# Other generators would repeat their numbers in processes restored from one snapshot.
from random import SystemRandom
from typing import Any, Literal

Strategy = Literal["fixed", "linear", "exponential"]


@dataclass(frozen=True, kw_only=True)
class Retry:
    """A retry strategy.

    The wait after the n-th failure, before jitter and at most `max`, is `min` (fixed), `min + (n - 1) * factor * min`
    (linear) or `min * factor ** (n - 1)` (exponential). Full jitter picks a random wait between zero and that one
    (Brooker, "Exponential Backoff And Jitter", 2015).
    """

    strategy: Strategy = "exponential"
    min: timedelta = timedelta(seconds=10)
    max: timedelta = timedelta(hours=1)
    factor: float = 3.0
    jitter: bool = True

    def wait(self, failures: int, chance: float | None = None) -> timedelta:
        """Return the wait after this many failures; `chance` in [0, 1) replaces the random number."""
        wait = min(self._unjittered(failures), self.max)
        if not self.jitter:
            return wait
        return wait * (SystemRandom().random() if chance is None else chance)

    def _unjittered(self, failures: int) -> timedelta:
        try:
            match self.strategy:
                case "fixed":
                    return self.min
                case "linear":
                    return self.min * (1 + (failures - 1) * self.factor)
                case "exponential":
                    return self.min * float(self.factor) ** (failures - 1)
        except OverflowError:
            return self.max

    def to_json(self) -> dict[str, Any]:
        """Return the strategy as the database stores it, with times in seconds."""
        return {
            "strategy": self.strategy,
            "min": self.min.total_seconds(),
            "max": self.max.total_seconds(),
            "factor": self.factor,
            "jitter": self.jitter,
        }

    @classmethod
    def from_json(cls, stored: dict[str, Any] | None) -> "Retry":
        """Return the strategy that the database stores, or the default one."""
        if stored is None:
            return DEFAULT
        return cls(
            strategy=stored["strategy"],
            min=timedelta(seconds=stored["min"]),
            max=timedelta(seconds=stored["max"]),
            factor=float(stored["factor"]),
            jitter=stored["jitter"],
        )


DEFAULT = Retry()
