"""Wait for something that another session, thread or process does."""

from collections.abc import Callable
from time import monotonic, sleep
from typing import Any

# Seconds until the next look. The pause doubles, since a condition that is checked all the time slows down the others.
FIRST, LONGEST = 0.0005, 0.02


def until(condition: Callable[[], Any], seconds: float = 120) -> Any:
    """Check a condition until it holds, and return its result; fail at the deadline."""
    deadline, pause = monotonic() + seconds, FIRST
    while not (result := condition()):
        assert monotonic() < deadline, "the condition did not hold before the deadline"
        sleep(pause)
        pause = min(2 * pause, LONGEST)
    return result
