"""Time limit: raise OutOfTime at the end of an attempt's time."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from types import FrameType

from minutehand.lease import Lease
from minutehand.model.failure import RAISED_ON_PURPOSE
from minutehand.model.outcome import OutOfTime

MESSAGE = "the attempt ran out of time"
SHORTEST_ALARM = 0.001


@contextmanager
def time_limit(lease: Lease) -> Iterator[None]:
    """Raise OutOfTime in the block at the lease's deadline, which `extend` may move.

    This needs an alarm signal, which only the main thread receives. In other threads the end of the lease is the only
    limit.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    rung: list[str] = []

    def ring(_signal: int, _frame: FrameType | None) -> None:
        if (left := lease.deadline - monotonic()) > 0:
            signal.setitimer(signal.ITIMER_REAL, left)
        else:
            rung.append(MESSAGE)
            raise OutOfTime(MESSAGE)

    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, max(lease.deadline - monotonic(), SHORTEST_ALARM))
        yield
    except Exception as error:
        # An interrupted statement raises an error of its own.
        if rung and not isinstance(error, RAISED_ON_PURPOSE):
            raise OutOfTime(MESSAGE) from error
        raise
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
