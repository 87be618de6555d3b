"""Throttle: limit the concurrency and the starts per minute, by the emulator's clock."""

from dataclasses import dataclass
from threading import Lock

from emulator.clock import Clock
from emulator.invocation import throttled

RATE = "FunctionInvocationRateLimitExceeded"
MINUTE = 60.0


@dataclass(frozen=True, kw_only=True)
class Throttle:
    """The limits of each function; None is unlimited."""

    concurrency: int | None = None
    """The maximum concurrency."""
    per_minute: float | None = None
    burst: int = 1
    """The size of a burst."""


class Buckets:
    """A token bucket for each function, initially full."""

    def __init__(self, throttle: Throttle, clock: Clock) -> None:
        """Start at the current time."""
        self._throttle, self._clock = throttle, clock
        self._lock = Lock()
        self._tokens_held: dict[str, tuple[float, float]] = {}

    def take(self, function: str) -> None:
        """Take a token; raise Lambda's 429 if the bucket is empty."""
        if self._throttle.per_minute is None:
            return
        with self._lock:
            tokens = self._tokens(function, self._throttle.per_minute / MINUTE)
            taken = tokens >= 1
            self._tokens_held[function] = (tokens - taken, self._clock.now())
        if not taken:
            raise throttled(RATE)

    def _tokens(self, function: str, per_second: float) -> float:
        tokens, since = self._tokens_held.get(function, (float(self._throttle.burst), self._clock.now()))
        # The tolerance compensates for rounding: a backoff as long as a token takes must find one.
        return min(float(self._throttle.burst), tokens + (self._clock.now() - since) * per_second + 1e-9)
