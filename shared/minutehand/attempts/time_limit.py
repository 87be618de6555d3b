"""Time limit: raise OutOfTime at the end of an attempt's time."""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from math import inf
from threading import Lock, current_thread, get_ident, main_thread
from time import monotonic
from types import FrameType, TracebackType

from minutehand.lease import Lease
from minutehand.model.failure import RAISED_ON_PURPOSE
from minutehand.model.outcome import OutOfTime

MESSAGE = "the attempt ran out of time"
SHORTEST_ALARM = 0.001
# Without the conversion to an enum, for which each call raises and catches an error if the handler is a function.
_handler_of = sys.modules.get("_signal", signal).getsignal


class _Alarm:
    """The alarm signal of the main thread, which rings in the attempt that runs.

    It is set once for many short attempts: an alarm that rings too early for the current one is set again. A handler
    may use it for something else, so each attempt asks the system whether it is still set. While a thread watches, the
    thread asks, at the end of each of its waits.
    """

    def __init__(self) -> None:
        self.limit: _TimeLimit | None = None
        self._rings_at = inf
        # Held while a thread that watches sets it again, which must not happen after `stop`.
        self._lock, self._watchers = Lock(), 0

    def set(self, deadline: float) -> None:
        """Let the alarm ring at a deadline or earlier."""
        if deadline < self._rings_at or not self._is_ours() or not (self._watchers or self._is_set()):
            signal.signal(signal.SIGALRM, self._ring)
            self._start(deadline)

    def stop(self) -> None:
        with self._lock:
            self._rings_at = inf
            signal.setitimer(signal.ITIMER_REAL, 0)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Set the alarm again at the end of this block if a handler has set it to another time, in any thread."""
        with self._lock:
            self._watchers += 1
        try:
            yield
        finally:
            with self._lock:
                # First, so that an attempt that begins now checks the alarm itself.
                self._watchers -= 1
                self._restore()

    def _restore(self) -> None:
        while (
            (rings_at := self._rings_at) < inf
            and self.limit is not None
            and self._is_ours()
            and not self._is_set()
        ):
            # If it has rung already, and the main thread has not noticed, it rings twice, and `_ring` ignores that.
            _set_timer(rings_at)
            if rings_at <= self._rings_at:
                # Otherwise the main thread has set an earlier one meanwhile.
                return

    def forget(self) -> None:
        """Forget the state of the parent in a child process, which has neither its alarm nor its threads."""
        self._rings_at, self._lock, self._watchers = inf, Lock(), 0

    def _is_ours(self) -> bool:
        return bool(_handler_of(signal.SIGALRM) == self._ring)

    def _is_set(self) -> bool:
        left = signal.getitimer(signal.ITIMER_REAL)[0]
        return 0.0 < left <= self._rings_at - monotonic() + SHORTEST_ALARM

    def _start(self, deadline: float) -> None:
        self._rings_at = deadline
        _set_timer(deadline)

    def _ring(self, _signal: int, _frame: FrameType | None) -> None:
        set_for, self._rings_at = self._rings_at, inf
        if self.limit is None or set_for == inf:
            return
        if self.limit.lease.deadline > monotonic():
            self._start(self.limit.lease.deadline)
            return
        self.limit.rang = True
        raise OutOfTime(MESSAGE)

    def ring_again(self, discarded: "sys.UnraisableHookArgs") -> bool:
        """Ring again if Python discarded the OutOfTime; return whether it did."""
        ours = self.limit is not None and self.limit.rang and isinstance(discarded.exc_value, OutOfTime)
        if ours:
            self._start(monotonic())
        return ours


def _set_timer(at: float) -> None:
    signal.setitimer(signal.ITIMER_REAL, max(at - monotonic(), SHORTEST_ALARM))


_alarm = _Alarm()
watched = _alarm.watched
os.register_at_fork(after_in_child=_alarm.forget)
# The main thread, while the alarm is prepared.
_limited: int | None = None


@contextmanager
def time_limits() -> Iterator[None]:
    """Prepare the alarm, once for many attempts, and restore what it was."""
    global _limited
    if _limited is not None or current_thread() is not main_thread():
        yield
        return
    before, _limited = signal.getsignal(signal.SIGALRM), get_ident()
    with noticing_discarded(_alarm.ring_again):
        try:
            yield
        finally:
            _limited, _alarm.limit = None, None
            _alarm.stop()
            signal.signal(signal.SIGALRM, before)


@contextmanager
def noticing_discarded(notice: "Callable[[sys.UnraisableHookArgs], bool]") -> Iterator[None]:
    """Pass errors that Python discards, such as those of `__del__`, to `notice`; report those it returns False for."""
    report = sys.unraisablehook
    sys.unraisablehook = lambda discarded: None if notice(discarded) else report(discarded)
    try:
        yield
    finally:
        sys.unraisablehook = report


def time_limit(lease: Lease) -> AbstractContextManager[None]:
    """Raise OutOfTime in the block at the lease's deadline, which `extend` may move. It must be within `time_limits`.

    This needs an alarm signal, which only the main thread receives. In other threads the end of the lease is the only
    limit.
    """
    # The first comparison is much faster.
    if get_ident() == _limited or current_thread() is main_thread():
        return _TimeLimit(lease)
    return nullcontext()


def without_limit() -> AbstractContextManager[None]:
    """Let the alarm wait for the end of this block."""
    # Between two attempts there is no limit.
    unlimited = _alarm.limit is None or current_thread() is not main_thread()
    return nullcontext() if unlimited else _waiting_for_end()


@contextmanager
def _waiting_for_end() -> Iterator[None]:
    limit, _alarm.limit = _alarm.limit, None
    try:
        yield
    finally:
        _alarm.limit = limit
        # A handler that has caught its alarm gets no second one, unless it was given more time.
        if limit is not None and not (limit.rang and limit.lease.deadline <= monotonic()):
            _alarm.set(limit.lease.deadline)


class _TimeLimit:
    def __init__(self, lease: Lease) -> None:
        self.lease, self.rang = lease, False

    def __enter__(self) -> None:
        self._outer, _alarm.limit = _alarm.limit, self
        _alarm.set(self.lease.deadline)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        _alarm.limit = self._outer
        # An interrupted statement raises an error of its own.
        if self.rang and isinstance(error, Exception) and not isinstance(error, RAISED_ON_PURPOSE):
            raise OutOfTime(MESSAGE) from error
