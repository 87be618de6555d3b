"""Throttle: so many at a time, and so many starts a minute of the emulator's clock."""

from dataclasses import dataclass
from threading import Lock

from emulator.clock import Clock
from emulator.invocation import throttled

RATE = "FunctionInvocationRateLimitExceeded"
MINUTE = 60.0


@dataclass(frozen=True, kw_only=True)
class Throttle:
    """How much Lambda lets through of each function; None is no limit."""

    at_once: int | None = None
    """As reserved concurrency does."""
    a_minute: float | None = None
    burst: int = 1
    """How many may start at once after a rest."""


class Buckets:
    """A bucket of tokens for each function, which begins full."""

    def __init__(self, throttle: Throttle, clock: Clock) -> None:
        """Begin now, by the clock."""
        self._throttle, self._clock = throttle, clock
        self._lock = Lock()
        self._held: dict[str, tuple[float, float]] = {}

    def take(self, function: str) -> None:
        """Take a token; raise Lambda's 429 if there is none."""
        if self._throttle.a_minute is None:
            return
        with self._lock:
            tokens = self._tokens(function, self._throttle.a_minute / MINUTE)
            taken = tokens >= 1
            self._held[function] = (tokens - taken, self._clock.now())
        if not taken:
            raise throttled(RATE)

    def _tokens(self, function: str, a_second: float) -> float:
        tokens, since = self._held.get(function, (float(self._throttle.burst), self._clock.now()))
        # A little more: a back-off that is as long as a token takes must find one, however floats add up.
        return min(float(self._throttle.burst), tokens + (self._clock.now() - since) * a_second + 1e-9)
