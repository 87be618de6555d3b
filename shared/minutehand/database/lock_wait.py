"""Lock wait: how long a tick waits for transactions that keep keys; the next tick does what is left."""

from collections.abc import Callable
from time import monotonic
from typing import TypeVar

from minutehand.database.driver_errors import was_locked
from minutehand.errors import BusyError

# A statement waits for half of the rest. So the first one waits a second, and all together little more than two.
SECONDS = 2.0
# The least that a statement waits, and how long statements are tried after the first one whose wait has ended.
LEAST_MILLISECONDS = 50
SECONDS_OF_TRIES = 5.0

Result = TypeVar("Result")


class LeftError(BusyError):
    """The statement was not tried, because earlier ones have used up the time."""


class LockWait:
    """The rest of the time for which a tick waits for the transactions of others."""

    def __init__(self) -> None:
        """Nothing has waited yet."""
        self._seconds = SECONDS
        self._end: float | None = None

    @property
    def is_over(self) -> bool:
        """Whether no more statements should be tried."""
        return self._end is not None and monotonic() > self._end

    def run(self, work: Callable[[int], Result]) -> Result:
        """Run a statement that waits for no longer than the milliseconds that it gets, or raise BusyError."""
        if self.is_over:
            raise LeftError("other transactions keep too many keys; left to the next tick")
        milliseconds = max(LEAST_MILLISECONDS, int(self._seconds * 500))
        try:
            return work(milliseconds)
        except BusyError as error:
            if was_locked(error):
                self._seconds -= milliseconds / 1000
                self._end = self._end or monotonic() + SECONDS_OF_TRIES
            raise


def is_left(error: Exception) -> bool:
    """Return whether an error means that the next tick has to try again, since a transaction is open."""
    return isinstance(error, LeftError) or (isinstance(error, BusyError) and was_locked(error))
